package manifests

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// path reads one argument: a file whatever its name, a folder, or stdin.
func (r *reader) path(ctx context.Context, path string) error {
	if path == "-" {
		if r.stdin == nil {
			return errors.New("read the manifests: there is no standard input")
		}
		return r.file(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return &fault.Error{What: "can't read the manifests: " + infile.Cause(err), Where: path, Err: err, Fix: "ls -l " + shell.Word(path)}
	}
	if info.IsDir() {
		return r.folder(ctx, path)
	}
	if err := infile.Check(info); err != nil {
		return &fault.Error{What: "can't read the manifests: " + err.Error(), Where: path, Err: err, Fix: "give them on standard input: --manifests -"}
	}
	if isKustomization(path) {
		r.kustomization(path)
		return nil
	}
	return r.file(ctx, path)
}

// fresh tells whether a file or folder is met for the first time, by whatever name.
func (r *reader) fresh(name string) bool {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		name = resolved
	}
	again := r.seen[name]
	r.seen[name] = true
	return !again
}

func (r *reader) file(ctx context.Context, name string) error {
	if !r.fresh(name) {
		return nil
	}
	src, err := infile.ReadOr(stream.NewReader(ctx, r.stdin), name, infile.Any)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.unreadable(name, err)
		return nil
	}
	if name == "-" {
		name = "<stdin>"
	}
	r.files++
	defer r.endFile(name)
	return r.text(ctx, name, src)
}

func (r *reader) unreadable(name string, err error) {
	r.problem(inventory.Problem{Where: name, What: "can't be read: " + infile.Cause(err), Fix: "let this user read it", Command: "ls -l " + shell.Word(name)})
}

// folder reads the manifests of a folder and of those below it.
func (r *reader) folder(ctx context.Context, path string) error {
	before := len(r.seen)
	anything, err := r.walk(ctx, path)
	if err == nil && !anything && len(r.seen) > before {
		err = &fault.Error{What: "there are no *.yaml, *.yml or *.json files in this folder", Where: path, Fix: "ls -R " + shell.Word(path)}
	}
	return err
}

// walk reads a folder and what links in it lead to, each folder once. The
// separator has a link followed that is the folder itself.
func (r *reader) walk(ctx context.Context, path string) (anything bool, err error) {
	err = filepath.WalkDir(path+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.unreadable(name, err)
			anything = true
			return nil
		case entry.IsDir():
			entered, err := r.enter(name, entry)
			anything = anything || !entered && entry.Name() != ".git"
			return err
		case entry.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				below, err := r.walk(ctx, name)
				anything = anything || below
				return err
			}
		}
		read, err := r.entry(ctx, name, entry)
		anything = anything || read
		return err
	})
	return anything, err
}

// enter leaves out a folder that was walked already, and one that kustomize builds:
// its files aren't what is applied.
func (r *reader) enter(name string, entry fs.DirEntry) (entered bool, err error) {
	if !r.fresh(name) || entry.Name() == ".git" {
		return false, fs.SkipDir
	}
	for _, file := range kustomizationNames {
		if file = filepath.Join(name, file); isKustomization(file) {
			r.kustomization(file)
			return false, fs.SkipDir
		}
	}
	return true, nil
}

// entry reads a file of a folder, and tells whether it may hold objects.
func (r *reader) entry(ctx context.Context, name string, entry fs.DirEntry) (bool, error) {
	if !isManifest(name) {
		what, fix, command := unreadForm(name)
		if what != "" {
			r.problem(inventory.Problem{Where: name, What: what + ", and wasn't read", Fix: fix, Command: command})
		}
		return what != "", nil
	}
	if kind := entry.Type() &^ fs.ModeSymlink; !kind.IsRegular() {
		r.problem(inventory.Problem{Where: name, What: "it isn't a regular file"})
		return true, nil
	}
	return true, r.file(ctx, name)
}

// kustomization tells of a folder that kustomize builds.
func (r *reader) kustomization(file string) {
	r.kustomizations++
	r.problem(inventory.Problem{
		Where: file, What: "kustomize builds this folder, and what comes of it wasn't read",
		Fix: "give what it builds", Command: "kustomize build " + shell.Path(filepath.Dir(file)) + " | verify skew --manifests -",
	})
}
