package ociimage

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// storedIndex is an index over a blobStore. go-containerregistry's own layout
// reader trusts the files that it finds; this one checks them.
type storedIndex struct {
	store blobStore
	desc  v1.Descriptor
	raw   []byte
}

var _ v1.ImageIndex = (*storedIndex)(nil)

func newStoredIndex(s blobStore, d v1.Descriptor) (v1.ImageIndex, error) {
	raw, err := readVerified(s, d)
	if err != nil {
		return nil, err
	}
	if _, err := parseIndex(raw); err != nil {
		return nil, damaged(s.where(d), "not an image index: "+err.Error(), s.fix())
	}
	return &storedIndex{store: s, desc: d, raw: raw}, nil
}

func (i *storedIndex) MediaType() (types.MediaType, error)       { return i.desc.MediaType, nil }
func (i *storedIndex) Digest() (v1.Hash, error)                  { return i.desc.Digest, nil }
func (i *storedIndex) Size() (int64, error)                      { return i.desc.Size, nil }
func (i *storedIndex) RawManifest() ([]byte, error)              { return i.raw, nil }
func (i *storedIndex) IndexManifest() (*v1.IndexManifest, error) { return parseIndex(i.raw) }
func (i *storedIndex) Image(h v1.Hash) (v1.Image, error)         { return openChild(i, h, newStoredImage) }
func (i *storedIndex) ImageIndex(h v1.Hash) (v1.ImageIndex, error) {
	return openChild(i, h, newStoredIndex)
}

func openChild[T any](i *storedIndex, h v1.Hash, open func(blobStore, v1.Descriptor) (T, error)) (T, error) {
	var none T
	m, err := i.IndexManifest()
	if err != nil {
		return none, err
	}
	for _, d := range m.Manifests {
		if d.Digest == h {
			return open(i.store, d)
		}
	}
	return none, fmt.Errorf("find %s in index %s: not there", h, i.desc.Digest)
}

func parseIndex(raw []byte) (*v1.IndexManifest, error) {
	return v1.ParseIndexManifest(bytes.NewReader(raw))
}

type storedImage struct {
	store  blobStore
	desc   v1.Descriptor
	raw    []byte
	man    *v1.Manifest
	config func() ([]byte, error)
}

var _ partial.CompressedImageCore = (*storedImage)(nil)

func newStoredImage(s blobStore, d v1.Descriptor) (v1.Image, error) {
	raw, err := readVerified(s, d)
	if err != nil {
		return nil, err
	}
	m, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return nil, damaged(s.where(d), "not an image manifest: "+err.Error(), s.fix())
	}
	i := &storedImage{store: s, desc: d, raw: raw, man: m}
	i.config = sync.OnceValues(func() ([]byte, error) { return readVerified(s, m.Config) })
	return partial.CompressedToImage(i)
}

func (i *storedImage) MediaType() (types.MediaType, error) { return i.desc.MediaType, nil }
func (i *storedImage) RawManifest() ([]byte, error)        { return i.raw, nil }
func (i *storedImage) Manifest() (*v1.Manifest, error)     { return i.man, nil }
func (i *storedImage) RawConfigFile() ([]byte, error)      { return i.config() }
func (i *storedImage) ConfigFile() (*v1.ConfigFile, error) { return partial.ConfigFile(i) }
func (i *storedImage) Descriptor() (*v1.Descriptor, error) { return &i.desc, nil }

func (i *storedImage) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if h == i.man.Config.Digest {
		return &storedLayer{image: i, desc: i.man.Config}, nil
	}
	for _, d := range i.man.Layers {
		if d.Digest == h {
			return &storedLayer{image: i, desc: d}, nil
		}
	}
	return nil, fmt.Errorf("find layer %s in image %s: not there", h, i.desc.Digest)
}

type storedLayer struct {
	image *storedImage
	desc  v1.Descriptor
}

func (l *storedLayer) Digest() (v1.Hash, error)            { return l.desc.Digest, nil }
func (l *storedLayer) Size() (int64, error)                { return l.desc.Size, nil }
func (l *storedLayer) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }
func (l *storedLayer) Descriptor() (*v1.Descriptor, error) { return &l.desc, nil }
func (l *storedLayer) Compressed() (io.ReadCloser, error)  { return openVerified(l.image.store, l.desc) }
func (l *storedLayer) DiffID() (v1.Hash, error)            { return partial.BlobToDiffID(l.image, l.desc.Digest) }
