package payload

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// wire sees what a push sends and what it is answered: it counts bytes, which
// go-containerregistry does only through a channel that blocks, and keeps the
// registry's wish for a pause, which its errors drop.
type wire struct {
	below http.RoundTripper
	meter *meter
	sizes map[string]int64 // of the blobs, by digest
	there sync.Map         // digests that the registry has said to have
	until atomic.Int64     // Unix time before which the registry wants no requests
}

func newWire(below http.RoundTripper, blobs []blob, progress Progress) *wire {
	w := &wire{below: below, sizes: map[string]int64{}}
	var total int64
	for _, b := range blobs {
		if !b.desc.MediaType.IsImage() && !b.desc.MediaType.IsIndex() {
			w.sizes[b.desc.Digest.String()] = b.desc.Size
			total += b.desc.Size
		}
	}
	w.meter = newMeter(progress, total)
	return w
}

// RoundTrip counts the bytes of an upload while they go, and takes them back
// when it fails.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent *sentBody
	if req.Method == http.MethodPatch && req.Body != nil {
		sent = &sentBody{ReadCloser: req.Body, meter: w.meter}
		clone := req.Clone(req.Context())
		clone.Body, clone.GetBody = sent, nil
		req = clone
	}
	resp, err := w.below.RoundTrip(req)
	if sent != nil && (err != nil || resp.StatusCode >= http.StatusBadRequest) {
		sent.takeBack()
	}
	if err != nil {
		return resp, err
	}
	digest := path.Base(req.URL.Path)
	if size, ok := w.sizes[digest]; ok && req.Method == http.MethodHead && resp.StatusCode == http.StatusOK {
		if _, told := w.there.LoadOrStore(digest, true); !told {
			w.meter.add(size)
		}
	}
	if s, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 32); err == nil && s > 0 {
		w.until.Store(time.Now().Unix() + s)
	}
	return resp, nil
}

// retryAfter is how long the registry wants no requests.
func (w *wire) retryAfter() time.Duration {
	return max(time.Until(time.Unix(w.until.Load(), 0)), 0)
}

// sentBody counts what is read of a request's body. The transport may go on
// reading it after the answer.
type sentBody struct {
	io.ReadCloser
	meter *meter
	mu    sync.Mutex
	n     int64
	over  bool
}

func (s *sentBody) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.n += int64(n)
		s.meter.add(int64(n))
	}
	return n, err
}

func (s *sentBody) takeBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.meter.add(-s.n)
}

// isNetwork tells an error of a connection from one of what was to be sent.
func isNetwork(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return isCut(err)
}

// isCut tells a connection that ended before its answer.
func isCut(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}, func(e error) bool {
		return errors.Is(err, e)
	})
}
