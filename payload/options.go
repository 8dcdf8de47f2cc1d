package payload

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
)

// ImageOptions describes an image. What isn't set isn't written.
type ImageOptions struct {
	// Created is the image's time. Zero means that of the base, and for
	// 1970 where there is none: the time of the build would make every image
	// another one.
	Created time.Time
	// Title, Source (a URL), Revision (of the source) and Version become
	// labels and annotations of the OCI image spec.
	Title, Source, Revision, Version string
	// BaseName and BaseDigest name the base that was asked for; they become
	// labels and annotations too. BaseDigest is "sha256:...".
	BaseName, BaseDigest string
	// Labels and Annotations are added last, so they win. Docker schema 2
	// manifests have no annotations: there, labels alone are written.
	Labels, Annotations map[string]string
	// Platform, if set, is what the base must be for.
	Platform *v1.Platform
}

// described returns the keys and values that labels and annotations share.
func (o ImageOptions) described() map[string]string {
	m := map[string]string{
		oci.KeyTitle: o.Title, oci.KeySource: o.Source, oci.KeyRevision: o.Revision, oci.KeyVersion: o.Version,
		oci.KeyBaseName: o.BaseName, oci.KeyBaseDigest: o.BaseDigest,
	}
	if !o.Created.IsZero() {
		m[oci.KeyCreated] = o.Created.UTC().Format(time.RFC3339)
	}
	maps.DeleteFunc(m, func(_, v string) bool { return v == "" })
	return m
}

// merged returns the union of the maps, nil when it is empty; later ones win.
func merged(all ...map[string]string) map[string]string {
	var out map[string]string
	for _, m := range all {
		if len(m) > 0 && out == nil {
			out = map[string]string{}
		}
		maps.Copy(out, m)
	}
	return out
}

var (
	// ownRelease is what Winbake writes; 5.0 alone, since WMCO had versions
	// from 5.0.0 on.
	ownRelease = regexp.MustCompile(`^4\.[0-9]+|^[5-9]\.[0-9]+$`)
	// wmcoRelease is the version of the Windows Machine Config Operator: 10.20
	// is for OpenShift 4.20, 11.0 for 5.0.
	wmcoRelease = regexp.MustCompile(`^v?1([01])\.([0-9]+)(?:\.|-|$)`)
	// oldRelease is one of WMCO's until 4.14, whole: a base image's own version
	// may be in the same label, such as 9.6 of UBI.
	oldRelease = regexp.MustCompile(`^v?([789])\.[0-9]+\.[0-9]+(?:-|$)`)
)

// ReleaseOf is the OpenShift release that an image's labels tell: ours carry
// it as their version, WMCO's from 4.12 on carry WMCO's. "" where they don't.
func ReleaseOf(labels map[string]string) string {
	if v := ownRelease.FindString(labels[oci.KeyVersion]); v != "" {
		return v
	}
	for _, key := range []string{"version", oci.KeyVersion} {
		if m := wmcoRelease.FindStringSubmatch(labels[key]); m != nil {
			return map[string]string{"0": "4.", "1": "5."}[m[1]] + m[2]
		}
	}
	if m := oldRelease.FindStringSubmatch(labels["version"]); m != nil {
		return map[string]string{"7": "4.12", "8": "4.13", "9": "4.14"}[m[1]]
	}
	return ""
}

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
		return ours && slices.Contains(ExtraNames, name) || isPayload && strings.HasPrefix(key, KeptLabel(""))
	})
	return rest
}
