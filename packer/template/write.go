package template

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
)

const (
	dirMode  = 0o755
	fileMode = 0o644
	// tempPrefix begins the names of folders that aren't finished.
	tempPrefix = ".winbake-"
)

// Write makes dir the template folder. The folder is made beside dir and takes
// its place at once: a killed run leaves nothing there, or all of it.
//
// A folder that isn't empty may be somebody's work, and is refused with a
// *fault.Error. A link is followed.
func Write(ctx context.Context, dir string, f *Folder) (err error) {
	if dir, err = atomicfs.Target(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cantWrite(dir, err)
	}
	if len(entries) > 0 {
		return &fault.Error{Where: dir, What: "the folder isn't empty, and nothing in it is overwritten",
			Fix: "give a new folder with --out, and compare the two: git diff --no-index OLD NEW; values belong into --var-file, steps of your own into --extra-script"}
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return cantWrite(dir, err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+tempPrefix)
	if err != nil {
		return cantWrite(dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := fill(ctx, temp, f); err != nil {
		return cantWrite(dir, err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cantWrite(dir, err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return cantWrite(dir, err)
	}
	return nil
}

// fill writes the files. It doesn't wait for the disk: what a power cut takes, one
// command brings back.
func fill(ctx context.Context, dir string, f *Folder) error {
	for _, file := range f.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(name), dirMode); err != nil {
			return err
		}
		if err := os.WriteFile(name, file.Data, fileMode); err != nil {
			return err
		}
	}
	return os.Chmod(dir, dirMode) // MkdirTemp made it private
}

func cantWrite(where string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &fault.Error{Where: where, What: "can't write the template folder: " + err.Error(), Fix: "check the folder's rights and the space on its disk", Err: err}
}
