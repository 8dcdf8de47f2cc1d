package ociimage

import (
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

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
