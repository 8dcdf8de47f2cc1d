// Package stream is for content that passes through: copying that ends with its
// context, and progress. It knows nothing of what passes.
package stream

import (
	"cmp"
	"context"
	"io"
	"sync"
)

// BufferSize is how much is read at a time, and so how far work goes on after
// its context ended.
const BufferSize = 256 << 10

// Copy copies what open gives until its end or the context's.
func Copy(ctx context.Context, w io.Writer, open func() (io.ReadCloser, error), buf []byte) error {
	rc, err := open()
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(w, NewReader(ctx, rc), buf)
	if cerr := rc.Close(); err == nil {
		err = cerr
	}
	return err
}

// ctxReader ends with its context. It hides the other methods of its reader,
// so that io.Copy doesn't go around it.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		err = cmp.Or(c.ctx.Err(), err) // it may be closed for its context
	}
	return n, err
}

// NewReader is r until ctx ends.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return &ctxReader{ctx, r} }

// Source keeps an error of what is read apart from a writer's.
type Source struct {
	R   io.Reader
	Err error
}

func (s *Source) Read(p []byte) (int, error) {
	n, err := s.R.Read(p)
	if err != nil && err != io.EOF {
		s.Err = err
	}
	return n, err
}

// Progress is told how much of some work is done, in bytes. Calls come one at
// a time, but from any goroutine; done never goes beyond total.
type Progress func(done, total int64)

// Meter adds up the progress of several goroutines. A nil meter counts
// nothing.
type Meter struct {
	mu          sync.Mutex
	done, total int64
	tell        Progress
}

// NewMeter counts up to total bytes for tell, and nothing where that is nil.
func NewMeter(tell Progress, total int64) *Meter {
	if tell == nil {
		return nil
	}
	return &Meter{tell: tell, total: total}
}

// Add counts n more bytes; n is negative when work has to be done again.
func (m *Meter) Add(n int64) {
	if m == nil || n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = min(m.done+n, m.total)
	m.tell(m.done, m.total)
}

// Write counts p.
func (m *Meter) Write(p []byte) (int, error) {
	m.Add(int64(len(p)))
	return len(p), nil
}
