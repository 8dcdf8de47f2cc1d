package oci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// ImageOrIndex is what v1.Image and v1.ImageIndex have in common. Writers take
// it and tell the two apart.
type ImageOrIndex interface {
	MediaType() (types.MediaType, error)
	Digest() (v1.Hash, error)
	Size() (int64, error)
	RawManifest() ([]byte, error)
}

// image is an image whose manifest is at hand. Unlike go-containerregistry's
// mutate it gives back its layers as they came, so that a base's layers can
// still be mounted across repositories, and it keeps what it doesn't know in the
// base's configuration.
type image struct {
	raw       []byte
	mediaType types.MediaType
	config    func() ([]byte, error)
	layers    []v1.Layer
}

// NewImage writes m out, with its config descriptor set to that of config.
func NewImage(m *v1.Manifest, config []byte, layers []v1.Layer) (v1.Image, error) {
	d := inMemory(config).desc
	m.Config.Digest, m.Config.Size, m.Config.Data = d.Digest, d.Size, nil
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the image manifest: %w", err)
	}
	return &image{raw, m.MediaType, func() ([]byte, error) { return config, nil }, layers}, nil
}

// openImage reads an image's manifest. The rest is read when it is asked for.
func openImage(s blobStore, d v1.Descriptor) (v1.Image, error) {
	raw, err := readManifest(s, d)
	if err != nil {
		return nil, err
	}
	m, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return nil, damaged(s.where(d), "not an image manifest: "+err.Error(), s.fix())
	}
	i := &image{raw: raw, mediaType: d.MediaType}
	i.config = sync.OnceValues(func() ([]byte, error) {
		raw, err := readVerified(s, m.Config)
		if err != nil {
			return nil, err
		}
		if _, err := v1.ParseConfigFile(bytes.NewReader(raw)); err != nil {
			return nil, damaged(s.where(m.Config), "not an image configuration: "+err.Error(), s.fix())
		}
		return raw, nil
	})
	for _, d := range m.Layers {
		var l v1.Layer = &layer{store: s, desc: d, image: i}
		if r, ok := s.(*registryStore); ok { // a push to the same registry needn't copy it
			l = &remote.MountableLayer{Layer: l, Reference: r.reference(d)}
		}
		i.layers = append(i.layers, l)
	}
	return i, nil
}

func (i *image) Layers() ([]v1.Layer, error)               { return i.layers, nil }
func (i *image) MediaType() (types.MediaType, error)       { return i.mediaType, nil }
func (i *image) RawManifest() ([]byte, error)              { return i.raw, nil }
func (i *image) RawConfigFile() ([]byte, error)            { return i.config() }
func (i *image) Size() (int64, error)                      { return int64(len(i.raw)), nil }
func (i *image) Digest() (v1.Hash, error)                  { return partial.Digest(i) }
func (i *image) Manifest() (*v1.Manifest, error)           { return partial.Manifest(i) }
func (i *image) ConfigName() (v1.Hash, error)              { return partial.ConfigName(i) }
func (i *image) ConfigFile() (*v1.ConfigFile, error)       { return partial.ConfigFile(i) }
func (i *image) LayerByDigest(h v1.Hash) (v1.Layer, error) { return i.find(h, v1.Layer.Digest) }
func (i *image) LayerByDiffID(h v1.Hash) (v1.Layer, error) { return i.find(h, v1.Layer.DiffID) }

func (i *image) find(h v1.Hash, by func(v1.Layer) (v1.Hash, error)) (v1.Layer, error) {
	for _, l := range i.layers {
		if got, err := by(l); err != nil || got == h {
			return l, err
		}
	}
	return nil, fmt.Errorf("find layer %s: not in the image", h)
}

// layer is a layer of an image in a blobStore.
type layer struct {
	store blobStore
	desc  v1.Descriptor
	image *image
}

func (l *layer) Digest() (v1.Hash, error)             { return l.desc.Digest, nil }
func (l *layer) Size() (int64, error)                 { return l.desc.Size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return l.desc.MediaType, nil }
func (l *layer) Descriptor() (*v1.Descriptor, error)  { return &l.desc, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return partial.BlobToDiffID(l.image, l.desc.Digest) }
func (l *layer) Compressed() (io.ReadCloser, error)   { return openVerified(l.store, l.desc) }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return Uncompressed(l) }

// Uncompressed undoes a layer's compression.
func Uncompressed(l partial.CompressedLayer) (io.ReadCloser, error) {
	whole, err := partial.CompressedToLayer(l)
	if err != nil {
		return nil, err
	}
	return whole.Uncompressed()
}

// index is an index whose manifest is at hand.
type index struct {
	raw       []byte
	mediaType types.MediaType
	child     func(d v1.Descriptor) (ImageOrIndex, error)
}

// NewIndex writes m out, as the index of children.
func NewIndex(m *v1.IndexManifest, children map[v1.Hash]ImageOrIndex) (v1.ImageIndex, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the image index: %w", err)
	}
	return &index{raw, m.MediaType, func(d v1.Descriptor) (ImageOrIndex, error) { return children[d.Digest], nil }}, nil
}

func openIndex(s blobStore, d v1.Descriptor) (v1.ImageIndex, error) {
	raw, err := readManifest(s, d)
	if err != nil {
		return nil, err
	}
	if _, err := v1.ParseIndexManifest(bytes.NewReader(raw)); err != nil {
		return nil, damaged(s.where(d), "not an image index: "+err.Error(), s.fix())
	}
	return storedIndex(s, d.MediaType, raw), nil
}

func storedIndex(s blobStore, mt types.MediaType, raw []byte) v1.ImageIndex {
	return &index{raw, mt, func(d v1.Descriptor) (ImageOrIndex, error) {
		if d.MediaType.IsIndex() {
			return openIndex(s, d)
		}
		return openImage(s, d)
	}}
}

func (i *index) RawManifest() ([]byte, error)                { return i.raw, nil }
func (i *index) MediaType() (types.MediaType, error)         { return i.mediaType, nil }
func (i *index) Size() (int64, error)                        { return int64(len(i.raw)), nil }
func (i *index) Digest() (v1.Hash, error)                    { return partial.Digest(i) }
func (i *index) Image(h v1.Hash) (v1.Image, error)           { return childOf[v1.Image](i, h) }
func (i *index) ImageIndex(h v1.Hash) (v1.ImageIndex, error) { return childOf[v1.ImageIndex](i, h) }
func (i *index) IndexManifest() (*v1.IndexManifest, error) {
	return v1.ParseIndexManifest(bytes.NewReader(i.raw))
}

func childOf[T ImageOrIndex](i *index, h v1.Hash) (child T, err error) {
	m, err := i.IndexManifest()
	if err != nil {
		return child, err
	}
	for _, d := range m.Manifests {
		if d.Digest != h {
			continue
		}
		x, err := i.child(d)
		if err != nil {
			return child, err
		}
		if child, ok := x.(T); ok {
			return child, nil
		}
	}
	return child, fmt.Errorf("find %s: not in the index", h)
}

// Keys of labels and annotations:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
const (
	KeyCreated    = "org.opencontainers.image.created"
	KeyTitle      = "org.opencontainers.image.title"
	KeySource     = "org.opencontainers.image.source"
	KeyRevision   = "org.opencontainers.image.revision"
	KeyVersion    = "org.opencontainers.image.version"
	KeyBaseName   = "org.opencontainers.image.base.name"
	KeyBaseDigest = "org.opencontainers.image.base.digest"

	// Labels that OpenShift's own images have, and annotations that a release
	// payload copies from them:
	// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/annotations.go
	KeyCommit         = "io.openshift.build.commit.id"
	KeySourceLocation = "io.openshift.build.source-location"

	// KeyDriver is ours: the label with the name of the driver that an image of bake
	// driver holds.
	KeyDriver = "dev.winbake.driver"
)
