package ociimage

import (
	"io"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/stream"
)

// sent counts the bytes of one upload. The connection may go on reading the
// body after the answer.
type sent struct {
	meter *stream.Meter
	mu    sync.Mutex
	n     int64
	over  bool
}

func (s *sent) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.n += int64(len(p))
		s.meter.Add(int64(len(p)))
	}
	return len(p), nil
}

// end makes n of what was counted.
func (s *sent) end(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.meter.Add(n - s.n)
}

// countedLayer is a layer whose bytes are counted when they are sent.
// go-containerregistry's WithProgress sends on a channel, after its end too.
type countedLayer struct {
	v1.Layer
	sent *sent
}

func (l countedLayer) Compressed() (io.ReadCloser, error) {
	rc, err := l.Layer.Compressed()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(rc, l.sent), rc}, nil
}
