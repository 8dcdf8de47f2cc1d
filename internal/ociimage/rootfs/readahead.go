package rootfs

import (
	"context"
	"io"
)

const (
	// Four blocks are enough to keep both sides busy; larger ones than
	// 256 KiB fall out of the processor's cache.
	aheadBlocks    = 4
	aheadBlockSize = 256 << 10
)

// readAhead reads in its own goroutine, so that decompression on one side
// overlaps with hashing on the other. It ends with its context.
type readAhead struct {
	ctx   context.Context
	full  chan aheadBlock
	free  chan []byte
	stop  chan struct{}
	ended chan struct{}

	block []byte // what is left of cur
	cur   []byte
	err   error
}

type aheadBlock struct {
	buf []byte
	n   int
	err error
}

func newReadAhead(ctx context.Context, r io.Reader) *readAhead {
	a := &readAhead{
		ctx:   ctx,
		full:  make(chan aheadBlock, aheadBlocks),
		free:  make(chan []byte, aheadBlocks),
		stop:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	for range aheadBlocks {
		a.free <- nil
	}
	go a.run(r)
	return a
}

func (a *readAhead) run(r io.Reader) {
	defer close(a.ended)
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.stop:
			return
		}
		if buf == nil { // small files never need the other blocks
			buf = make([]byte, aheadBlockSize)
		}
		n, err := fill(r, buf)
		a.full <- aheadBlock{buf, n, err} // never blocks: as many places as blocks
		if err != nil {
			return
		}
	}
}

// fill reads until buf is full or r ends; unlike io.ReadFull it passes r's own
// error on.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	return n, err
}

func (a *readAhead) Read(p []byte) (int, error) {
	for len(a.block) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.cur != nil {
			a.free <- a.cur
			a.cur = nil
		}
		select {
		case b := <-a.full:
			a.cur, a.block, a.err = b.buf, b.buf[:b.n], b.err
		case <-a.ctx.Done():
			a.err = a.ctx.Err()
		}
	}
	n := copy(p, a.block)
	a.block = a.block[n:]
	return n, nil
}

// Close returns when the goroutine doesn't touch the reader any more.
func (a *readAhead) Close() {
	close(a.stop)
	<-a.ended
}
