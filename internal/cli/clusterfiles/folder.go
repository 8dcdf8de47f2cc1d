package clusterfiles

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

// writeFolder fills dir with these files. They are made beside it and moved in
// one after the other; when that fails, what was moved goes again, so that
// nothing half written stays. A folder that is there already stays the same one,
// with its rights, and a link to one stays a link. What is in it may only be
// these very files: an admin's own edits aren't lost.
func writeFolder(ctx context.Context, dir string, files []object.File) error {
	dir, err := atomicfs.Target(dir) // beside a link may be another disk, to which nothing can be renamed
	if err != nil {
		return err
	}
	if same, err := holds(dir, files); same || err != nil {
		return err
	}
	if err = fill(ctx, dir, files); err != nil && ctx.Err() == nil {
		err = cantWrite(dir, err)
	}
	return err
}

func fill(ctx context.Context, dir string, files []object.File) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".winbake-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(temp, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return move(temp, dir)
}

// move puts what from holds into to, which it makes if need be, or nothing.
func move(from, to string) (err error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	var undo []func() error
	defer func() {
		if err == nil {
			return
		}
		for _, f := range slices.Backward(undo) {
			err = errors.Join(err, f())
		}
	}()
	switch err := os.Mkdir(to, 0o755); {
	case err == nil:
		undo = append(undo, func() error { return os.Remove(to) })
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	for _, e := range entries {
		path := filepath.Join(to, e.Name())
		if err := os.Rename(filepath.Join(from, e.Name()), path); err != nil {
			return err
		}
		undo = append(undo, func() error { return os.RemoveAll(path) })
	}
	return nil
}

// holds tells whether dir has just these files. One that has others, or has
// them changed, is refused.
func holds(dir string, files []object.File) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, cantWrite(dir, err)
	}
	want := map[string][]byte{}
	for _, f := range files {
		want[f.Name], want[path.Dir(f.Name)] = f.Data, nil
	}
	found := 0
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return cantWrite(dir, err)
		}
		expected, ours := want[name]
		if ours && e.IsDir() && expected == nil {
			return nil
		}
		found++
		data, err := infile.Read(filepath.Join(dir, name), infile.Text)
		if !ours || err != nil || !bytes.Equal(data, expected) {
			return &fault.Error{Where: filepath.Join(dir, name), What: "the folder isn't empty, and this isn't what would be written", Fix: "give a new folder with --out, and compare: diff -r"}
		}
		return nil
	})
	if err == nil && found != len(files) {
		err = &fault.Error{Where: dir, What: "the folder has some of the files and not all", Fix: "give a new folder with --out"}
	}
	return err == nil, err
}

func cantWrite(where string, err error) error {
	return &fault.Error{Where: where, What: "can't write the manifests: " + err.Error(), Fix: "check the folder's rights and the space on its disk", Err: err}
}
