package clusterfiles

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/manifests/object"
)

// writeFolder fills dir with these files; when one can't be written, the others go
// again, so that nothing half written stays. A folder that is there already stays the
// same one, with its rights, and a link to one stays a link. What stands in it may only
// be these very files: an admin's own edits aren't lost.
func writeFolder(ctx context.Context, dir string, files []object.File) error {
	dir, err := atomicfs.Target(dir)
	if err != nil {
		return err
	}
	if same, err := holds(dir, files); same || err != nil {
		return err
	}
	_, missing := os.Stat(dir)
	if err = fill(ctx, dir, files); err == nil {
		return nil
	}
	if os.IsNotExist(missing) {
		_ = os.RemoveAll(dir)
	}
	for _, f := range files { // it was empty
		top, _, _ := strings.Cut(f.Name, "/")
		_ = os.RemoveAll(filepath.Join(dir, top))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return cantWrite(dir, err)
}

func fill(ctx context.Context, dir string, files []object.File) error {
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
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
