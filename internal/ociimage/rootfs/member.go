package rootfs

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Member is the one file in a single-member archive.
type Member struct {
	// Name is the bare file name.
	Name string
	// Size is the length of Content in bytes.
	Size int64
	// Content returns an *ArchiveError or a *LimitError in place of io.EOF
	// when the archive isn't what it should be: read it to the end before
	// relying on it. It is good until the visit ends.
	Content io.Reader
}

// ArchiveError says why a file isn't a single-member archive that the
// operator and a Windows node could unpack.
type ArchiveError struct{ What string }

// Error returns What.
func (e *ArchiveError) Error() string { return e.What }

// Member opens the archive of an entry whose Archived is true: a gzipped tar
// of exactly one regular file, whose name is the archive's without .tar.gz.
// It may be called once, and not after Content was read.
func (e *Entry) Member() (*Member, error) {
	raw := &countingReader{r: e.Content}
	in := &gunzip{r: raw}
	e.member = &memberStream{ahead: newReadAhead(e.ctx, e.budget.reader(e.Path, in, raw.n.Load))}
	e.member.tar = tar.NewReader(e.member.ahead)
	h, err := e.member.tar.Next()
	if errors.Is(err, io.EOF) {
		return nil, &ArchiveError{"an empty archive"}
	}
	if errors.Is(err, tar.ErrFieldTooLong) {
		return nil, longHeader(e.Path)
	}
	if err != nil {
		return nil, archiveError(err)
	}
	if what := checkMember(h, strings.TrimSuffix(path.Base(e.Path), archiveSuffix)); what != "" {
		return nil, &ArchiveError{what}
	}
	if limit := e.budget.limits.MaxFile; h.Size > limit {
		return nil, &LimitError{e.Path, fmt.Sprintf("a file of %d bytes in it", h.Size), fmt.Sprintf("%d bytes a file", limit)}
	}
	return &Member{Name: h.Name, Size: h.Size, Content: e.member}, nil
}

func checkMember(h *tar.Header, name string) string {
	for _, what := range []string{unsafeKind(h), privileged(h)} {
		if what != "" {
			return what + " in it"
		}
	}
	switch {
	case h.Typeflag != tar.TypeReg:
		return fmt.Sprintf("its member %q isn't a regular file", h.Name)
	case h.Name != name:
		return fmt.Sprintf("its member is called %q", h.Name)
	}
	return ""
}

// archiveError turns what a decoder says into an ArchiveError; errors of the
// layer around the archive, and limits, stay what they are.
func archiveError(err error) error {
	if _, ok := errors.AsType[*ArchiveError](err); ok || isOurs(err) {
		return err
	}
	return &ArchiveError{"not a gzipped tar archive: " + err.Error()}
}

// memberStream is a member's content, followed by the checks of what comes
// after it.
type memberStream struct {
	ahead *readAhead
	tar   *tar.Reader
	err   error
}

func (m *memberStream) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.tar.Read(p)
	if err == io.EOF {
		err = m.end()
	} else if err != nil {
		err = archiveError(err)
	}
	m.err = err
	return n, err
}

// end makes sure that nothing follows: another member would be unpacked onto
// the node beside the first, unseen by every checksum.
func (m *memberStream) end() error {
	h, err := m.tar.Next()
	if err == nil {
		return &ArchiveError{fmt.Sprintf("more than one member: %q too", h.Name)}
	}
	if err != io.EOF {
		return archiveError(err)
	}
	return onlyZeros(m.ahead)
}

// onlyZeros reads to the end of an archive, which tar pads with zeros.
func onlyZeros(r io.Reader) error {
	buf := make([]byte, 32<<10)
	zeros := make([]byte, len(buf))
	for {
		n, err := r.Read(buf)
		if !bytes.Equal(buf[:n], zeros[:n]) {
			return &ArchiveError{"bytes after the end of the archive"}
		}
		if err == io.EOF {
			return io.EOF
		}
		if err != nil {
			return archiveError(err)
		}
	}
}

// gunzip opens its decoder on the first read, in the goroutine that reads.
type gunzip struct {
	r io.Reader
	z *gzip.Reader
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.z == nil {
		if g.z, err = gzip.NewReader(g.r); err != nil {
			return 0, err
		}
	}
	return g.z.Read(p)
}

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
