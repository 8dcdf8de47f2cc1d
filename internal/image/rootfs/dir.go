package rootfs

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/oci"
)

// dirEntries shows a folder as the one layer of an image that has it at its
// first root. It can't be left through links: package os holds the root.
type dirEntries struct {
	name string
	top  string // where it is in an image
	root *os.Root
	tell stream.Progress
	done int64
}

func (d *dirEntries) count() int { return 1 }
func (d *dirEntries) skip(int)   {}

func (d *dirEntries) eachEntry(ctx context.Context, _ int, fn func(*tar.Header, io.Reader) error) error {
	return fs.WalkDir(d.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return d.Fault(p, err)
		}
		return d.entry(ctx, p, e, fn)
	})
}

func (d *dirEntries) entry(ctx context.Context, p string, e fs.DirEntry, fn func(*tar.Header, io.Reader) error) error {
	info, err := e.Info()
	if err != nil {
		return d.Fault(p, err)
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = d.root.Readlink(p); err != nil {
			return d.Fault(p, err)
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil { // a socket: archive/tar has no type for it
		h = &tar.Header{Typeflag: tar.TypeFifo}
	}
	h.Name = path.Join(d.top, p)
	if h.Typeflag != tar.TypeReg {
		return fn(h, nil)
	}
	return d.file(ctx, p, h, fn)
}

// file visits a regular file. A file that grows or shrinks meanwhile is an
// error, as it would be in a tar.
func (d *dirEntries) file(ctx context.Context, p string, h *tar.Header, fn func(*tar.Header, io.Reader) error) error {
	f, err := d.root.Open(p)
	if err != nil {
		return d.Fault(p, err)
	}
	defer f.Close() // only read
	if err := fn(h, &sizedReader{r: stream.NewReader(ctx, f), left: h.Size, dir: d, path: p}); err != nil {
		return err
	}
	if d.done += h.Size; d.tell != nil {
		d.tell(d.done, d.done) // the total isn't known
	}
	return nil
}

func (d *dirEntries) Fault(p string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return oci.Unreadable(path.Join(d.name, p), err)
}

// sizedReader reads exactly as many bytes as a file's header promised.
type sizedReader struct {
	r    io.Reader
	left int64
	dir  *dirEntries
	path string
}

func (s *sizedReader) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err == io.EOF && s.left > 0 {
		err = fmt.Errorf("it became %d bytes shorter while it was read", s.left)
	}
	if err != nil && err != io.EOF {
		err = s.dir.Fault(s.path, err)
	}
	return n, err
}

// Entry is one visible file or folder of a source.
type Entry struct {
	// Path is slash-separated and begins at the image's root, without a
	// leading slash: "payload/csi-proxy/csi-proxy.exe".
	Path string
	// Mode holds the permission bits and whether it is a folder.
	Mode fs.FileMode
	// Size is the length of Content in bytes; of an archive, not of its
	// member.
	Size int64
	// Link is the path of the file that gives the content when Path is a
	// link, symbolic or hard; else empty.
	Link string
	// Content is the file as it is stored; nil for a folder. It is good until
	// the visit ends and needn't be read.
	Content io.Reader

	ctx    context.Context
	budget *budget
	member *memberStream
}

const archiveSuffix = ".tar.gz"

// Archived tells whether the entry is a single-member archive, as archived
// payloads hold them, by its name.
func (e *Entry) Archived() bool {
	return !e.Mode.IsDir() && strings.HasSuffix(e.Path, archiveSuffix)
}

// close ends what the visit left open.
func (e *Entry) close() {
	if e.member != nil {
		_ = e.member.ahead.Close() // it was read ahead for nobody
	}
}

func newEntry(h *tar.Header, p string) *Entry {
	return &Entry{Path: p, Mode: h.FileInfo().Mode() & (fs.ModePerm | fs.ModeDir | fs.ModeSticky), Size: h.Size}
}
