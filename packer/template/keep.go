package template

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// keep gives the new folder the files that came into the old one beside ours. A
// file is linked and not moved: until the new folder has its place, the old one
// is whole, and afterwards the new one is.
func keep(ctx context.Context, from, to string, others []string) error {
	for _, rel := range others {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(rel)), dirMode); err != nil {
			return err
		}
		err := link(filepath.Join(from, rel), filepath.Join(to, rel))
		if errors.Is(err, fs.ErrExist) {
			return refuse(filepath.Join(from, rel), "the file isn't one that was written here, and a file of the template has its name", "move it out of the folder, or give another one with --out")
		}
		if err != nil {
			return refuse(filepath.Join(from, rel), "the file can't be kept: "+err.Error(), "move it out of the folder, or give another one with --out")
		}
	}
	return nil
}

// link makes name another name of a file, or the same symbolic link.
func link(old, name string) error {
	target, err := os.Readlink(old)
	if err == nil {
		return os.Symlink(target, name)
	}
	return os.Link(old, name)
}
