package mustgather

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/base/infile"
)

// cutError is the end of an archive in its middle: what stood before it was
// visited.
type cutError struct {
	after string // the last file that was whole
	err   error
}

func (e *cutError) Error() string {
	return "the archive ends or breaks after " + e.after + ": " + e.err.Error()
}

func (e *cutError) Unwrap() error { return e.err }

func walkArchive(ctx context.Context, file string, visit visitor) error {
	f, err := infile.Open(file)
	if err != nil {
		return unreadable(file, err)
	}
	defer f.Close() // only read
	in, closer, err := unpack(file, f)
	if err != nil {
		return err
	}
	defer closer()
	return walkTar(ctx, file, in, visit)
}

func walkTar(ctx context.Context, file string, in *tail, visit visitor) error {
	last := "its beginning"
	var source io.Reader = in
	if s, ok := in.r.(io.Seeker); ok {
		source = seekingTail{in, s} // archive/tar seeks over what isn't wanted
	}
	tr := tar.NewReader(source)
	for range maxEntries {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return in.end(last)
		}
		if err != nil {
			return &cutError{last, err}
		}
		err = visitMember(h, tr, visit)
		if e, ok := errors.AsType[*readError](err); ok {
			return &cutError{last, e.err}
		}
		if err != nil {
			return err
		}
		last = h.Name
	}
	return tooMany(file)
}

// tail keeps the last block that was read. An archive that is cut between two
// files looks like a whole one to archive/tar, which asks for no end mark.
type tail struct {
	r    io.Reader
	last [512]byte
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n >= len(t.last) {
		copy(t.last[:], p[n-len(t.last):n])
	} else {
		copy(t.last[:], t.last[n:])
		copy(t.last[len(t.last)-n:], p[:n])
	}
	return n, err
}

// end checks that the archive has its end mark, blocks of zeros, and reads
// what is left, so that a checksum behind it is compared.
func (t *tail) end(after string) error {
	if t.last != [512]byte{} {
		return &cutError{after, io.ErrUnexpectedEOF}
	}
	if _, err := io.Copy(io.Discard, t.r); err != nil {
		return &cutError{after, err}
	}
	return nil
}

type seekingTail struct {
	*tail
	io.Seeker
}

// visitMember passes by names that lead out of the archive, links and devices.
func visitMember(h *tar.Header, r io.Reader, visit visitor) error {
	name := path.Clean(h.Name)
	if !filepath.IsLocal(name) || name == "." {
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return visit(name, nil)
	case tar.TypeReg:
		return visit(name, &memberReader{r})
	}
	return nil
}

// readError is the failure to read from the archive, as opposed to what a
// visitor makes of what it read.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

type memberReader struct{ r io.Reader }

func (m *memberReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, &readError{err}
	}
	return n, err
}

// unpack undoes the compression of an archive, told by its first bytes.
func unpack(file string, f *os.File) (*tail, func(), error) {
	br := bufio.NewReaderSize(f, 256<<10)
	head, err := br.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, unreadable(file, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, notArchive(file, "a gzip file whose header is cut or damaged", "copy it again")
		}
		return &tail{r: z}, func() { _ = z.Close() }, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, notArchive(file, "a zstd file that can't be unpacked", "unzstd "+file)
		}
		return &tail{r: z}, z.Close, nil
	case len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar")):
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, nil, unreadable(file, err)
		}
		return &tail{r: f}, func() {}, nil
	}
	return nil, nil, notArchive(file, "not a tar archive, plain or compressed by gzip or zstd", "unpack it, and give the folder")
}
