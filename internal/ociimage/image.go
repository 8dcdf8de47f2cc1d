package ociimage

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
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

var (
	_ ImageOrIndex = v1.Image(nil)
	_ ImageOrIndex = v1.ImageIndex(nil)
)

// image is an image whose manifest and configuration are written already.
// Unlike go-containerregistry's mutate it gives back its layers as they came,
// so that a base's layers can still be mounted across repositories and ours
// repaired, and it keeps what it doesn't know in the base's configuration.
type image struct {
	manifest  []byte
	config    []byte
	mediaType types.MediaType
	layers    []v1.Layer
}

var _ v1.Image = (*image)(nil)

// NewImage writes m out, with its config descriptor set to that of config.
func NewImage(m *v1.Manifest, config []byte, layers []v1.Layer) (v1.Image, error) {
	h, n, err := v1.SHA256(bytes.NewReader(config))
	if err != nil {
		return nil, fmt.Errorf("hash the image configuration: %w", err)
	}
	m.Config.Digest, m.Config.Size, m.Config.Data = h, n, nil
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the image manifest: %w", err)
	}
	return &image{manifest: raw, config: config, mediaType: m.MediaType, layers: layers}, nil
}

func (i *image) Layers() ([]v1.Layer, error)               { return i.layers, nil }
func (i *image) MediaType() (types.MediaType, error)       { return i.mediaType, nil }
func (i *image) RawManifest() ([]byte, error)              { return i.manifest, nil }
func (i *image) RawConfigFile() ([]byte, error)            { return i.config, nil }
func (i *image) Size() (int64, error)                      { return int64(len(i.manifest)), nil }
func (i *image) Digest() (v1.Hash, error)                  { return partial.Digest(i) }
func (i *image) Manifest() (*v1.Manifest, error)           { return partial.Manifest(i) }
func (i *image) ConfigName() (v1.Hash, error)              { return partial.ConfigName(i) }
func (i *image) ConfigFile() (*v1.ConfigFile, error)       { return partial.ConfigFile(i) }
func (i *image) LayerByDigest(h v1.Hash) (v1.Layer, error) { return i.find(h, v1.Layer.Digest) }
func (i *image) LayerByDiffID(h v1.Hash) (v1.Layer, error) { return i.find(h, v1.Layer.DiffID) }

// find looks among the layers; by digest, the configuration is one too.
func (i *image) find(h v1.Hash, by func(v1.Layer) (v1.Hash, error)) (v1.Layer, error) {
	for _, l := range i.layers {
		got, err := by(l)
		if err != nil {
			return nil, err
		}
		if got == h {
			return l, nil
		}
	}
	c, err := partial.ConfigLayer(i)
	if err != nil {
		return nil, err
	}
	if got, err := by(c); err == nil && got == h {
		return c, nil
	}
	return nil, fmt.Errorf("find layer %s: not in the image", h)
}

type index struct {
	manifest []byte
	children map[v1.Hash]ImageOrIndex
}

var _ v1.ImageIndex = (*index)(nil)

// NewIndex writes m out, as the index of children.
func NewIndex(m *v1.IndexManifest, children map[v1.Hash]ImageOrIndex) (v1.ImageIndex, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the image index: %w", err)
	}
	return &index{manifest: raw, children: children}, nil
}

func (i *index) RawManifest() ([]byte, error) { return i.manifest, nil }
func (i *index) Size() (int64, error)         { return int64(len(i.manifest)), nil }
func (i *index) Digest() (v1.Hash, error)     { return partial.Digest(i) }

func (i *index) IndexManifest() (*v1.IndexManifest, error) {
	return v1.ParseIndexManifest(bytes.NewReader(i.manifest))
}

func (i *index) MediaType() (types.MediaType, error) {
	m, err := i.IndexManifest()
	if err != nil {
		return "", err
	}
	return m.MediaType, nil
}

func (i *index) Image(h v1.Hash) (v1.Image, error) {
	if c, ok := i.children[h].(v1.Image); ok {
		return c, nil
	}
	return nil, fmt.Errorf("find image %s: not in the index", h)
}

func (i *index) ImageIndex(h v1.Hash) (v1.ImageIndex, error) {
	if c, ok := i.children[h].(v1.ImageIndex); ok {
		return c, nil
	}
	return nil, fmt.Errorf("find index %s: not in the index", h)
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
)

// Keys of labels that OpenShift's own images have, and of annotations that a release
// payload copies from them:
// https://github.com/openshift/oc/blob/main/pkg/cli/admin/release/annotations.go
const (
	KeyCommit         = "io.openshift.build.commit.id"
	KeySourceLocation = "io.openshift.build.source-location"
)

// KeyDriver is ours: the label with the name of the driver that an image of bake
// driver holds.
const KeyDriver = "dev.winbake.driver"
