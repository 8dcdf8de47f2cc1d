package payload

import (
	"maps"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/ociimage"
)

// ImageOptions describes an image. What isn't set isn't written.
type ImageOptions struct {
	// Created is the image's time. Zero stands for that of the base, and for
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
		ociimage.KeyTitle: o.Title, ociimage.KeySource: o.Source, ociimage.KeyRevision: o.Revision, ociimage.KeyVersion: o.Version,
		ociimage.KeyBaseName: o.BaseName, ociimage.KeyBaseDigest: o.BaseDigest,
	}
	if !o.Created.IsZero() {
		m[ociimage.KeyCreated] = o.Created.UTC().Format(time.RFC3339)
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
