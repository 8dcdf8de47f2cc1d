package ociimage

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
)

// manifestLimit bounds manifests, indexes and configurations in bytes: they are
// held in memory, where each may take eighty times as much. Registries needn't
// take larger ones:
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pushing-manifests
const manifestLimit = 4 << 20

type blobStore interface {
	// open returns the raw bytes of a blob; a missing one is a fault.
	open(d v1.Descriptor) (io.ReadCloser, error)
	// stat tells a blob's size, and the fault of open when it is missing.
	stat(d v1.Descriptor) (int64, error)
	// where names a blob's place for people.
	where(d v1.Descriptor) string
	// fix says how to get the image whole again.
	fix() string
}

// openVerified opens a blob that gives a fault instead of io.EOF when its
// bytes aren't those that d names.
func openVerified(s blobStore, d v1.Descriptor) (io.ReadCloser, error) {
	h, err := v1.Hasher(d.Digest.Algorithm)
	if err != nil {
		return nil, damaged(s.where(d), "a digest of an unknown kind, "+d.Digest.String(), s.fix())
	}
	rc, err := s.open(d)
	if err != nil {
		return nil, err
	}
	return &verifiedBlob{rc: rc, hash: h, desc: d, store: s}, nil
}

type verifiedBlob struct {
	rc    io.ReadCloser
	hash  hash.Hash
	desc  v1.Descriptor
	store blobStore
	n     int64
	err   error
}

func (v *verifiedBlob) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.rc.Read(p)
	v.hash.Write(p[:n])
	v.n += int64(n)
	switch {
	case v.n > v.desc.Size:
		err = v.Fault(fmt.Sprintf("longer than the %d bytes that its manifest says", v.desc.Size))
	case err == io.EOF:
		err = v.end()
	case err != nil:
		err = &fault.Error{What: "can't be read: " + reason(err), Where: v.store.where(v.desc), Err: err, Fix: v.store.fix()}
	}
	v.err = err
	return n, err
}

func (v *verifiedBlob) end() error {
	if v.n < v.desc.Size {
		return v.Fault(fmt.Sprintf("cut off: %d of %d bytes", v.n, v.desc.Size))
	}
	if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.desc.Digest.Hex {
		return v.Fault(fmt.Sprintf("its bytes have the digest sha256:%s, not %s", got, v.desc.Digest))
	}
	return io.EOF
}

func (v *verifiedBlob) Fault(what string) error {
	return damaged(v.store.where(v.desc), what, v.store.fix())
}

func (v *verifiedBlob) Close() error { return v.rc.Close() }

func readVerified(s blobStore, d v1.Descriptor) ([]byte, error) {
	if d.Size < 0 || d.Size > manifestLimit {
		return nil, damaged(s.where(d), fmt.Sprintf("said to have %d bytes, more than any manifest", d.Size), s.fix())
	}
	rc, err := openVerified(s, d)
	if err != nil {
		return nil, err
	}
	defer rc.Close() //nolint:errcheck // only read
	return io.ReadAll(rc)
}

// damaged is the fault of an image whose bytes contradict its own digests: a
// check that failed, not a failure to check.
func damaged(where, what, fix string) error {
	return &fault.Error{What: what, Where: where, Fix: fix, Code: finding.ExitBlock}
}

// DamagedLayer is the fault of a layer that isn't what its image says.
func (s *Source) DamagedLayer(l v1.Layer, what string) error {
	return damaged(s.LayerPlace(l), what, s.repair())
}

// LayerPlace names a layer for people.
func (s *Source) LayerPlace(l v1.Layer) string {
	h, err := l.Digest()
	if err != nil {
		return s.Name
	}
	return s.blobPlace(h)
}

func (s *Source) blobPlace(h v1.Hash) string {
	if s.blobs != nil {
		return s.blobs.where(v1.Descriptor{Digest: h})
	}
	return s.Name + "@" + h.String()
}

func (s *Source) repair() string {
	if s.blobs != nil {
		return s.blobs.fix()
	}
	return "build and push the image again"
}

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
