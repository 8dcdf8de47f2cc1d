package payload

import (
	"maps"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ExtrasLabel is the key of the image label that holds the digest of a file
// below ExtrasRoot, "sha256:" and its hex sum. It says what the image should
// hold whatever its layers do.
func ExtrasLabel(name string) string { return "dev.winbake." + name }

// withExtrasLabels adds the labels for what a layer of NewExtras holds. They
// win over those that were asked for: Check compares with them.
func withExtrasLabels(o ImageOptions, layer v1.Layer) ImageOptions {
	l, ok := layer.(*Layer)
	if !ok || !l.packer.tree.extras {
		return o
	}
	labels := map[string]string{}
	for _, f := range l.packer.tree.Files {
		labels[ExtrasLabel(f.Path)] = "sha256:" + f.SHA256
	}
	o.Labels = merged(o.Labels, labels)
	return o
}

// withoutExtrasLabels drops what a base says of its own extras: the new layers
// hide them.
func withoutExtrasLabels(labels map[string]string) map[string]string {
	kept := maps.Clone(labels)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		name, ours := strings.CutPrefix(key, ExtrasLabel(""))
		return ours && slices.Contains(extraNames, name)
	})
	return kept
}
