package rootfs

import (
	"archive/tar"
	"context"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/oci"
)

// folder shows a folder as the one layer of an image that has it at its
// first root. It can't be left through links: package os holds the root.
type folder struct {
	name string
	top  string // where it is in an image
	root *os.Root
}

func (d *folder) count() int { return 1 }

func (d *folder) each(ctx context.Context, _ int, fn func(*tar.Header, io.Reader) error) error {
	return fs.WalkDir(d.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var h *tar.Header
		if err == nil {
			h, err = d.header(p, e)
		}
		if err != nil {
			return oci.Unreadable(path.Join(d.name, p), err)
		}
		if h.Typeflag != tar.TypeReg {
			return fn(h, nil)
		}
		f, err := d.root.Open(p)
		if err != nil {
			return oci.Unreadable(path.Join(d.name, p), err)
		}
		defer f.Close() // only read
		return fn(h, io.LimitReader(stream.NewReader(ctx, f), h.Size))
	})
}

func (d *folder) header(p string, e fs.DirEntry) (*tar.Header, error) {
	info, err := e.Info()
	if err != nil {
		return nil, err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = d.root.Readlink(p); err != nil {
			return nil, err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil { // a socket: archive/tar has no type for it
		h = &tar.Header{Typeflag: tar.TypeFifo}
	}
	h.Name = path.Join(d.top, p)
	return h, nil
}
