package payload

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/fault"
)

// idleTimeout ends a connection that brings nothing: a proxy that lost its
// other side keeps it open for hours.
const idleTimeout = time.Minute

// errStalled is a cut connection to everything that tells such from others.
var errStalled = fmt.Errorf("nothing more came: %w", io.ErrUnexpectedEOF)

// idleTransport gives every answer's body idleTimeout between its bytes.
type idleTransport struct {
	below http.RoundTripper
	idle  time.Duration
}

func (t idleTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.below.RoundTrip(req)
	if err == nil {
		resp.Body = &idleBody{ReadCloser: resp.Body, idle: t.idle}
	}
	return resp, err
}

type idleBody struct {
	io.ReadCloser
	idle    time.Duration
	stalled atomic.Bool
}

func (b *idleBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.idle, func() {
		b.stalled.Store(true)
		_ = b.ReadCloser.Close() // ends the read
	})
	n, err := b.ReadCloser.Read(p)
	timer.Stop()
	if err != nil && b.stalled.Load() {
		err = errStalled
	}
	return n, err
}

// layerRetries are for layers that a registry cuts off, 1, 2 and 4 s apart.
var layerRetries = backoff{first: time.Second, most: time.Minute, tries: 4}

func (o LoadOptions) retries() backoff {
	b := layerRetries
	if o.backoff != nil {
		b.first, b.tries = o.backoff.Duration, o.backoff.Steps
	}
	return b
}

type remoteIndex = v1.ImageIndex

// registryIndex, registryImage and registryLayer are what a registry's client
// gives, but for layers: those survive a cut connection.
type registryIndex struct {
	remoteIndex
	source *Source
}

func (i registryIndex) Image(h v1.Hash) (v1.Image, error) {
	img, err := i.remoteIndex.Image(h)
	if err != nil {
		return nil, err
	}
	return registryImage{img, i.source}, nil
}

func (i registryIndex) ImageIndex(h v1.Hash) (v1.ImageIndex, error) {
	idx, err := i.remoteIndex.ImageIndex(h)
	if err != nil {
		return nil, err
	}
	return registryIndex{idx, i.source}, nil
}

type registryImage struct {
	v1.Image
	source *Source
}

func (i registryImage) Layers() ([]v1.Layer, error) {
	layers, err := i.Image.Layers()
	for n, l := range layers {
		layers[n] = registryLayer{l, i.source}
	}
	return layers, err
}

type registryLayer struct {
	v1.Layer
	source *Source
}

func (l registryLayer) Compressed() (io.ReadCloser, error) { return l.source.openBlob(l) }

// layerBlob reads a layer's raw bytes; errors are faults that name the layer.
// What a registry cuts off is fetched again, up to where it was, and goes on
// from there.
type layerBlob struct {
	source *Source
	layer  v1.Layer
	digest v1.Hash
	size   int64
	n      int64
	hash   hash.Hash // over all that was passed on, of however many fetches
	tries  int
	err    error

	mu     sync.Mutex // of rc, which Close may end under a Read
	rc     io.ReadCloser
	closed chan struct{}
}

func (s *Source) openBlob(l v1.Layer) (*layerBlob, error) {
	if own, ok := l.(registryLayer); ok {
		l = own.Layer
	}
	h, err := l.Digest()
	if err != nil {
		return nil, s.fault(err)
	}
	n, err := l.Size()
	if err != nil {
		return nil, s.fault(err)
	}
	rc, err := l.Compressed()
	if err != nil {
		return nil, s.fault(err)
	}
	b := &layerBlob{source: s, layer: l, digest: h, size: n, tries: 1, rc: rc, closed: make(chan struct{})}
	if s.Kind == KindRegistry { // local blobs are checked where they are opened
		b.hash, err = v1.Hasher(h.Algorithm)
	}
	return b, err
}

func (b *layerBlob) Read(p []byte) (int, error) {
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
		err = b.resume(err)
	}
	b.err = err
	return n, err
}

// resume fetches the layer again after err and skips what was passed on.
func (b *layerBlob) resume(err error) error {
	for pause := b.source.retries.first; b.mayResume(err); pause *= 2 {
		b.tries++
		select {
		case <-b.closed:
			return err
		case <-time.After(pause):
		}
		if err = b.again(); err == nil {
			return nil
		}
	}
	return b.fault(err)
}

func (b *layerBlob) mayResume(err error) bool {
	return !b.isClosed() && b.n < b.size && b.tries < b.source.retries.tries && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func (b *layerBlob) again() error {
	rc, err := b.layer.Compressed()
	if err != nil {
		return err
	}
	if !b.swap(rc) {
		return errors.Join(io.ErrClosedPipe, rc.Close())
	}
	_, err = io.CopyN(io.Discard, rc, b.n)
	return err
}

func (b *layerBlob) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// swap goes on with another fetch, unless the blob was closed.
func (b *layerBlob) swap(rc io.ReadCloser) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isClosed() {
		return false
	}
	_ = b.rc.Close() // it is broken
	b.rc = rc
	return true
}

// Close ends a Read that waits, too.
func (b *layerBlob) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isClosed() {
		return nil
	}
	close(b.closed)
	return b.rc.Close()
}

// fault tells a registry that stops early from one that sends other bytes;
// its client's errors don't.
func (b *layerBlob) fault(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*transport.Error](err); ok {
		return b.source.fault(err)
	}
	if b.n >= b.size {
		return b.damaged()
	}
	did := "cut the connection"
	if errors.Is(err, errStalled) {
		did = "sent nothing more"
	}
	return &fault.Error{
		What:  fmt.Sprintf("registry %s %s after %d of %d bytes of a layer, the last of %d times", b.registry(), did, b.n, b.size, b.tries),
		Where: b.source.blobPlace(b.digest), Err: err,
		Fix: "run it again; if it stays, copy the image and name the copy: skopeo copy --all docker://" + b.source.Reference() + " oci:DIR",
	}
}

func (b *layerBlob) damaged() error {
	return damaged(b.source.blobPlace(b.digest), "registry "+b.registry()+" sent a layer whose bytes have another digest",
		"push the image again; if it stays, tell those who run "+b.registry())
}

func (b *layerBlob) registry() string {
	registry, _, _ := strings.Cut(b.source.name, "/")
	return registry
}
