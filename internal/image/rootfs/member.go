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
	"github.com/klauspost/readahead"

	"github.com/winbake/winbake/internal/base/stream"
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
	z, err := gzip.NewReader(raw)
	var h *tar.Header
	if err == nil {
		e.member = &memberStream{ahead: newReadAhead(e.ctx, e.budget.reader(e.Path, z, raw.n.Load))}
		e.member.tar = tar.NewReader(e.member.ahead)
		h, err = e.member.tar.Next()
	}
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
	ahead io.ReadCloser
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

// newReadAhead reads in its own goroutine, so that decompression on one side
// overlaps with hashing on the other. It ends with its context. Larger blocks than
// these fall out of the processor's cache. Close returns when the goroutine doesn't
// touch the reader any more.
func newReadAhead(ctx context.Context, r io.Reader) io.ReadCloser {
	const blocks, size = 4, 256 << 10
	a, err := readahead.NewReaderSize(stream.NewReader(ctx, r), blocks, size)
	if err != nil {
		panic(err) // of a size below one
	}
	return a
}
