// Package oci reads and writes images: OCI layouts, tarballs of OCI and of
// docker, and registries, of which it is the program's only client together with
// package registry, its transport. Every blob that is read is checked against its
// digest; what is written takes its place as a whole.
//
// It knows nothing of what is in an image: package rootfs merges its layers.
package oci

import (
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/winbake/winbake/internal/image/registry"
)

// Kind is what a reference given to Load turned out to be.
type Kind string

// The kinds of sources.
const (
	KindRegistry      Kind = "registry"       // an image or index in a registry
	KindLayout        Kind = "layout"         // a folder with an OCI image layout
	KindOCIArchive    Kind = "oci-archive"    // a tarball of an OCI image layout
	KindDockerArchive Kind = "docker-archive" // a tarball as `docker save` writes it
	KindDir           Kind = "dir"            // the plain files of a payload
)

// Options say how Load and Push reach an image.
type Options = registry.Options

// Source is an image, an index of images or a folder of files that may hold a
// payload. Nothing but manifests has been read when Load returns it, with one
// exception: the layers of a docker-archive are hashed, since nothing in it
// names their digests.
//
// Every blob that is read through a Source is checked against its digest and
// size. What doesn't match comes as an error that names the blob's place and
// what to do.
type Source struct {
	// Kind is what the reference is.
	Kind Kind
	// Ref is the reference as it was given, without a prefix such as "oci:".
	Ref string
	// Digest is the digest of the image's or the index's manifest; zero for
	// KindDir.
	Digest v1.Hash

	Name     string // what is before @ in Reference
	image    v1.Image
	index    v1.ImageIndex
	topLevel bool      // index is a layout's own index.json
	store    blobStore // nil for KindDir
	platform *v1.Platform
	closer   io.Closer // of a tarball
}

// Reference names the source by digest: "registry/repository@sha256:...", and
// for local images the path instead of the name. A KindDir has no digest and
// gives its path.
func (s *Source) Reference() string {
	if s.Kind == KindDir {
		return s.Name
	}
	return s.Name + "@" + s.Digest.String()
}

// Platform is Options.Platform.
func (s *Source) Platform() *v1.Platform { return s.platform }

// Index returns the index; nil when the source is a single image or a folder.
func (s *Source) Index() v1.ImageIndex { return s.index }

// Descriptor is that of the image's or the index's manifest. There is none of a folder.
func (s *Source) Descriptor() (*v1.Descriptor, error) {
	if s.index != nil {
		return partial.Descriptor(s.index)
	}
	return partial.Descriptor(s.image)
}

// Close closes an opened tarball. Images of the source can't be read any more.
func (s *Source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// DamagedLayer is the fault of a layer that isn't what its image says.
func (s *Source) DamagedLayer(l v1.Layer, what string) error {
	return damaged(s.LayerPlace(l), what, s.store.fix())
}

// LayerPlace names a layer for people.
func (s *Source) LayerPlace(l v1.Layer) string {
	h, err := l.Digest()
	if err != nil {
		return s.Name
	}
	return s.store.where(v1.Descriptor{Digest: h})
}
