package mustgather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/shell"
)

// maxEntries bounds the files and folders of one must-gather. One of a cluster
// of 500 nodes has some 200,000.
const maxEntries = 20_000_000

// visitor is handed every regular file, once, and every folder with a nil
// reader. name is slash-separated, clean and below the top.
type visitor func(name string, r io.Reader) error

type skipper func(name string, err error)

// walk visits the files of a folder or of an archive in their order there.
func walk(ctx context.Context, top string, visit visitor, skip skipper) error {
	info, err := os.Stat(top)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fault.Error{
			What: "no such file or folder", Where: top, Err: fs.ErrNotExist,
			Fix: "oc adm must-gather, and give the folder that it made, or an archive of it",
		}
	case err != nil:
		return unreadable(top, err)
	case info.IsDir():
		return walkFolder(ctx, top, visit, skip)
	case !info.Mode().IsRegular():
		return &fault.Error{
			What: "neither a folder nor a regular file (" + info.Mode().Type().String() + ")", Where: top,
			Fix: "give the folder that `oc adm must-gather` made, or an archive of it",
		}
	}
	return walkArchive(ctx, top, visit)
}

// walkFolder follows no links: one that leads out of the must-gather isn't
// part of it.
func walkFolder(ctx context.Context, top string, visit visitor, skip skipper) error {
	n := 0
	return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if n++; n > maxEntries {
			return tooMany(top)
		}
		name, rerr := filepath.Rel(top, file)
		if rerr != nil {
			return rerr
		}
		name = filepath.ToSlash(name)
		switch {
		case name == "." && err != nil:
			return unreadable(top, err)
		case err != nil:
			skip(name, err)
			return nil
		case name == ".":
			return nil
		case d.IsDir():
			return visit(name, nil)
		case !d.Type().IsRegular():
			return nil
		}
		return visitFile(file, name, visit)
	})
}

// visitFile opens the file only when it is read.
func visitFile(file, name string, visit visitor) error {
	l := &lazyFile{path: file}
	err := visit(name, l)
	return errors.Join(err, l.close())
}

// lazyFile opens at the first read: of a must-gather's files few are wanted.
type lazyFile struct {
	path string
	f    *os.File
}

func (l *lazyFile) Read(p []byte) (int, error) {
	if l.f == nil {
		f, err := os.Open(l.path)
		if err != nil {
			return 0, err
		}
		l.f = f
	}
	return l.f.Read(p)
}

func (l *lazyFile) close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

func notArchive(file, what, fix string) error {
	return &fault.Error{What: what, Where: file, Fix: fix}
}

func tooMany(top string) error {
	return &fault.Error{
		What: fmt.Sprintf("more than %d files, which no must-gather has", maxEntries), Where: top,
		Fix: "give the folder must-gather.local.* itself",
	}
}

func unreadable(file string, err error) error {
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: file, Err: err, Fix: "ls -ld " + shell.Word(file)}
}
