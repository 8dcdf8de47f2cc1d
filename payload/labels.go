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

// KeptLabel is the key of the image label that names a file which came with the
// base. The value is the file's digest and that of the base, with a space
// between.
func KeptLabel(path string) string { return "dev.winbake.kept." + path }

// ownLabels say what is in the layer's tree, or stays with it. They win over
// those that were asked for: Check compares with them.
func ownLabels(layer v1.Layer) map[string]string {
	labels := map[string]string{}
	l, ok := layer.(*Layer)
	if !ok {
		return labels
	}
	if l.packer.tree.extras {
		for _, f := range l.packer.tree.Files {
			labels[ExtrasLabel(f.Path)] = "sha256:" + f.SHA256
		}
	}
	for _, k := range l.packer.tree.Kept {
		labels[KeptLabel(k.Path)] = "sha256:" + k.SHA256 + " " + k.Base
	}
	return labels
}

// withoutOwnLabels drops what a base says of its own extras, which the new
// layers hide, and below a payload what it says of files that it kept itself.
func withoutOwnLabels(labels map[string]string, layer v1.Layer) map[string]string {
	rest := maps.Clone(labels)
	l, ok := layer.(*Layer)
	isPayload := ok && !l.packer.tree.extras
	maps.DeleteFunc(rest, func(key, _ string) bool {
		name, ours := strings.CutPrefix(key, ExtrasLabel(""))
		return ours && slices.Contains(extraNames, name) || isPayload && strings.HasPrefix(key, KeptLabel(""))
	})
	return rest
}
