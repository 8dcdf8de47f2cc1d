package manifests

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/shell"
)

// found are the files of a folder, before any is read.
type found struct {
	manifests, kustomizations []string
	// again: the folder was walked under another argument.
	again bool
}

// folder reads a folder: what kustomize builds of it first, and then the files
// that no kustomization takes in.
func (r *reader) folder(ctx context.Context, path string) error {
	var f found
	if err := r.walk(ctx, path, &f); err != nil {
		return err
	}
	if len(f.manifests)+len(f.kustomizations) == 0 && !f.again {
		return &fault.Error{What: "there are no *.yaml, *.yml or *.json files in this folder", Where: path, Fix: "ls -R " + shell.Word(path)}
	}
	if err := r.kustomize(ctx, f.kustomizations); err != nil {
		return err
	}
	for _, name := range f.manifests {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.file(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// walk lists a folder and what links in it lead to, each folder once. The
// separator has a link followed that is the folder itself.
func (r *reader) walk(ctx context.Context, path string, f *found) error {
	return filepath.WalkDir(path+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.unreadable(name, err)
			return nil
		case entry.IsDir():
			return r.enter(name, entry, f)
		case entry.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				return r.walk(ctx, name, f)
			}
		}
		r.entry(name, entry, f)
		return nil
	})
}

// enter tells whether a folder is to be walked.
func (r *reader) enter(name string, entry fs.DirEntry, f *found) error {
	real := realPath(name)
	if r.walked[real] {
		f.again = true
		return fs.SkipDir
	}
	r.walked[real] = true
	if entry.Name() == ".git" {
		return fs.SkipDir
	}
	return nil
}

// entry takes one file of a folder.
func (r *reader) entry(name string, entry fs.DirEntry, f *found) {
	switch {
	case isKustomizationFile(name):
		f.kustomizations = append(f.kustomizations, name)
		if !isManifest(name) {
			return
		}
	case !isManifest(name):
		return
	}
	if kind := entry.Type() &^ fs.ModeSymlink; !kind.IsRegular() {
		r.problem(inventory.Problem{Where: name, What: "it isn't a regular file"})
		return
	}
	f.manifests = append(f.manifests, name)
}
