package ociimage

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/registry"
)

// Blob reads a layer's raw bytes; errors are faults that name the layer.
// What a registry cuts off is fetched again, up to where it was, and goes on
// from there.
type Blob struct {
	source *Source
	layer  v1.Layer
	digest v1.Hash
	size   int64
	n      int64
	err    error

	// Of a registry's layers.
	hash     hash.Hash // over all that was passed on, of however many fetches
	attempts *registry.Attempts
	ctx      context.Context // from open to Close
	cancel   context.CancelFunc

	mu sync.Mutex // of rc, which Close may end under a Read
	rc io.ReadCloser
}

// OpenBlob opens a layer as it is stored, compressed; who reads it compares its
// digest in the end, by Close.
func (s *Source) OpenBlob(l v1.Layer) (*Blob, error) {
	if own, ok := l.(registryLayer); ok {
		l = own.Layer
	}
	h, err := l.Digest()
	if err != nil {
		return nil, s.Fault(err)
	}
	n, err := l.Size()
	if err != nil {
		return nil, s.Fault(err)
	}
	b := &Blob{source: s, layer: l, digest: h, size: n}
	if s.remote == nil { // local blobs are checked where they are opened
		b.rc, err = l.Compressed()
		return b, err
	}
	b.attempts = s.remote.client.Attempts()
	b.ctx, b.cancel = context.WithCancel(s.remote.ctx)
	if b.hash, err = v1.Hasher(h.Algorithm); err == nil {
		if err = b.fetch(); err != nil {
			err = b.resume(err)
		}
	}
	if err != nil {
		b.cancel()
		return nil, err
	}
	return b, nil
}

func (b *Blob) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.rc.Read(p)
	b.n += int64(n)
	if b.hash == nil {
		b.err = err
		return n, err
	}
	b.hash.Write(p[:n])
	switch {
	case err == io.EOF && hex.EncodeToString(b.hash.Sum(nil)) != b.digest.Hex:
		err = b.damaged()
	case err != nil && err != io.EOF:
		err = b.resume(b.early(err))
	}
	b.err = err
	return n, err
}

func (b *Blob) resume(err error) error {
	for err != nil {
		if err = b.attempts.Failed(b.ctx, err); err != nil {
			return b.Fault(err)
		}
		err = b.fetch()
	}
	return nil
}

// early makes a body that ended early and in good order the cut that it is.
func (b *Blob) early(err error) error {
	if _, known := errors.AsType[*registry.Failure](err); err == nil || known || b.n >= b.size {
		return err
	}
	return &registry.Failure{Err: err}
}

// fetch opens the layer and skips what was passed on.
func (b *Blob) fetch() error {
	rc, err := b.layer.Compressed()
	if err != nil {
		return err
	}
	b.mu.Lock()
	if b.rc != nil {
		_ = b.rc.Close() // it is broken
	}
	b.rc = rc
	if b.ctx.Err() != nil {
		_ = rc.Close() // Close came before, and closed another one
	}
	b.mu.Unlock()
	_, err = io.CopyN(io.Discard, rc, b.n)
	return b.early(err)
}

// Close ends a Read that waits, too.
func (b *Blob) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	}
	return b.rc.Close()
}

// Fault tells a registry that stops early from one that sends other bytes.
func (b *Blob) Fault(err error) error {
	f, failed := errors.AsType[*registry.Failure](err)
	_, answered := errors.AsType[*transport.Error](err)
	switch {
	case b.ctx.Err() != nil || answered || b.n == 0:
		return b.source.Fault(err)
	case !failed:
		return b.damaged()
	}
	did := "cut the connection"
	if f.Silence != "" {
		did = "sent nothing more"
	}
	return &fault.Error{
		What:  fmt.Sprintf("registry %s %s after %d of %d bytes of a layer, the last of %d times", b.registry(), did, b.n, b.size, b.attempts.N),
		Where: b.source.blobPlace(b.digest), Err: err,
		Fix: "run it again; if it stays, copy the image and name the copy: skopeo copy --all docker://" + b.source.Reference() + " oci:DIR",
	}
}

func (b *Blob) damaged() error {
	return damaged(b.source.blobPlace(b.digest), "registry "+b.registry()+" sent a layer whose bytes have another digest",
		"push the image again; if it stays, tell those who run "+b.registry())
}

func (b *Blob) registry() string { return b.source.remote.client.Ref.Context().RegistryStr() }
