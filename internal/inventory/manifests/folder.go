package manifests

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/shell"
)

// found are the files of a folder, before any is read.
type found struct {
	manifests, kustomizations []string
	// again: the folder was walked under another argument.
	again bool
	// passedOver: there are files that may hold manifests and aren't read.
	passedOver bool
}

// folder reads a folder: what kustomize builds of it first, and then the files
// that no kustomization takes in.
func (r *reader) folder(ctx context.Context, path string) error {
	var f found
	if err := r.walk(ctx, path, &f); err != nil {
		return err
	}
	if len(f.manifests)+len(f.kustomizations) == 0 && !f.again && !f.passedOver {
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

func (r *reader) enter(name string, entry fs.DirEntry, f *found) error {
	resolved := realPath(name)
	if r.walked[resolved] {
		f.again = true
		return fs.SkipDir
	}
	r.walked[resolved] = true
	if entry.Name() == ".git" {
		return fs.SkipDir
	}
	return nil
}

func (r *reader) entry(name string, entry fs.DirEntry, f *found) {
	switch {
	case isKustomizationFile(name):
		f.kustomizations = append(f.kustomizations, name)
		if !isManifest(name) {
			return
		}
	case !isManifest(name):
		r.passOver(name, f)
		return
	}
	if kind := entry.Type() &^ fs.ModeSymlink; !kind.IsRegular() {
		r.problem(inventory.Problem{Where: name, What: "it isn't a regular file"})
		return
	}
	f.manifests = append(f.manifests, name)
}

// passOver tells of a file that may hold manifests in a form that isn't read.
func (r *reader) passOver(name string, f *found) {
	what, fix, command := unreadForm(name)
	if what == "" {
		return
	}
	f.passedOver = true
	r.problem(inventory.Problem{Where: name, What: what + ", and wasn't read", Fix: fix, Command: command})
}

// unreadForm is what a file is by its name, and what makes manifests of it; ""
// for a file that is none of Kubernetes. Helm's helpers, _x.tpl, hold no object.
func unreadForm(name string) (what, fix, command string) {
	ext := strings.ToLower(filepath.Ext(name))
	inner := isManifest(strings.TrimSuffix(name, filepath.Ext(name)))
	switch {
	case slices.Contains([]string{".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".gotmpl", ".erb", ".ytt"}, ext):
		if strings.HasPrefix(filepath.Base(name), "_") {
			return "", "", ""
		}
		return "this is a template", rendered, ""
	case slices.Contains([]string{".tgz", ".tar", ".zip"}, ext) || strings.HasSuffix(strings.ToLower(name), ".tar.gz"):
		return "this is an archive", "unpack it, or give a must-gather with --must-gather", ""
	case inner && ext == ".gz":
		return "this is compressed", "unpack it", "gunzip -k " + shell.Path(name)
	case inner && slices.Contains([]string{".bz2", ".xz", ".zst"}, ext):
		return "this is compressed", "unpack it", ""
	}
	return "", "", ""
}
