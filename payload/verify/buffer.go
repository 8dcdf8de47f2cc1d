package verify

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/winbake/winbake/internal/ociimage/rootfs"
)

const (
	// chunkSize is how a buffer grows. A size that an archive only claims
	// costs nothing until its bytes come.
	chunkSize = 1 << 20
	// maxBuffers is how many executables are in memory: one that is checked
	// while the next is read.
	maxBuffers = 2
	// maxChunks is how much memory they take together, in chunks, and so the
	// largest executable: twice the largest node binary.
	maxChunks = 256
)

// chunks are the memory that all buffers share.
type chunks struct {
	spare chan []byte
	fresh chan struct{} // what may still be made
}

func newChunks(n int) *chunks {
	c := &chunks{spare: make(chan []byte, n), fresh: make(chan struct{}, n)}
	for range n {
		c.fresh <- struct{}{}
	}
	return c
}

// take waits for a chunk; used ones go before new ones.
func (c *chunks) take(ctx context.Context) ([]byte, error) {
	select {
	case b := <-c.spare:
		return b, nil
	default:
	}
	select {
	case b := <-c.spare:
		return b, nil
	case <-c.fresh:
		return make([]byte, chunkSize), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type buffer struct {
	pool   *chunks
	chunks [][]byte
	size   int64
}

// reset empties the buffer and gives its memory back.
func (b *buffer) reset() {
	for _, c := range b.chunks {
		b.pool.spare <- c
	}
	b.chunks, b.size = b.chunks[:0], 0
}

type bufferWriter struct {
	ctx  context.Context
	path string
	*buffer
}

// Write appends p. It waits while another buffer has the memory.
func (b *bufferWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i, off := int(b.size/chunkSize), b.size%chunkSize
		if i == cap(b.pool.spare) {
			return 0, &rootfs.LimitError{Object: b.path, Observed: fmt.Sprintf("an executable of more than %d MiB", i), Limit: fmt.Sprintf("%d MiB", i)}
		}
		if i == len(b.chunks) {
			c, err := b.pool.take(b.ctx)
			if err != nil {
				return 0, err
			}
			b.chunks = append(b.chunks, c)
		}
		k := copy(b.chunks[i][off:], p)
		p = p[k:]
		b.size += int64(k)
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (b *buffer) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("read at a negative offset")
	}
	n := 0
	for n < len(p) && off < b.size {
		c := b.chunks[off/chunkSize]
		end := min(chunkSize, b.size-off/chunkSize*chunkSize)
		k := copy(p[n:], c[off%chunkSize:end])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// inspector hands executables to a check in its own goroutine.
type inspector struct {
	check func(string, io.ReaderAt, int64)
	free  chan *buffer
	work  chan inspection
	ended chan struct{}
}

type inspection struct {
	path string
	buf  *buffer
}

// newInspector starts the goroutine; nil when there is no check.
func newInspector(check func(string, io.ReaderAt, int64)) *inspector {
	if check == nil {
		return nil
	}
	in := &inspector{
		check: check, free: make(chan *buffer, maxBuffers), work: make(chan inspection, maxBuffers),
		ended: make(chan struct{}),
	}
	pool := newChunks(maxChunks)
	for range maxBuffers {
		in.free <- &buffer{pool: pool}
	}
	go in.run()
	return in
}

func (in *inspector) run() {
	defer close(in.ended)
	for w := range in.work {
		in.check(w.path, w.buf, w.buf.size)
		w.buf.reset()
		in.free <- w.buf
	}
}

// take waits for a buffer.
func (in *inspector) take(ctx context.Context) (*buffer, error) {
	select {
	case b := <-in.free:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (in *inspector) put(b *buffer) {
	b.reset()
	in.free <- b
}

func (in *inspector) inspect(path string, b *buffer) { in.work <- inspection{path, b} }

// wait ends the goroutine after what is queued.
func (in *inspector) wait() {
	if in != nil {
		close(in.work)
		<-in.ended
	}
}
