package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// path reads one argument: a file whatever its name, a folder, or stdin.
func (r *reader) path(ctx context.Context, path string) error {
	if path == "-" {
		return r.standardInput(ctx)
	}
	info, err := os.Stat(path)
	if err != nil {
		return &fault.Error{What: "can't read the manifests: " + infile.Cause(err), Where: path, Err: err, Fix: "ls -l " + shell.Word(path)}
	}
	if !info.IsDir() {
		if err := infile.Check(info); err != nil {
			return &fault.Error{What: "can't read the manifests: " + err.Error(), Where: path, Err: err, Fix: "give them on standard input: --manifests -"}
		}
		if isKustomizationFile(path) {
			return r.builtFile(ctx, path)
		}
		return r.file(ctx, path)
	}
	return r.folder(ctx, path)
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// fresh tells whether a file or folder is met for the first time, by whatever name.
func (r *reader) fresh(name string) bool {
	resolved := realPath(name)
	again := r.seen[resolved]
	r.seen[resolved] = true
	return !again
}

// realPath is where a file or folder is without links, as far as that can be
// told.
func realPath(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		name = resolved
	}
	return name
}

func (r *reader) file(ctx context.Context, name string) error {
	if !r.fresh(name) {
		return nil
	}
	f, err := infile.Open(name)
	if err != nil {
		r.unreadable(name, err)
		return nil
	}
	defer f.Close() // read only
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	return r.input(ctx, name, f, size)
}

func (r *reader) standardInput(ctx context.Context) error {
	if r.stdin == nil {
		return errors.New("read the manifests: there is no standard input")
	}
	if !r.fresh("-") {
		return nil
	}
	return r.input(ctx, "<stdin>", r.stdin, 0)
}

func (r *reader) input(ctx context.Context, name string, in io.Reader, size int64) error {
	var src bytes.Buffer
	src.Grow(int(min(size, maxInput)) + bytes.MinRead)
	_, err := src.ReadFrom(stream.NewReader(ctx, io.LimitReader(in, maxInput+1)))
	if src.Len() > maxInput {
		err = fmt.Errorf("it is larger than %d MiB: give it in parts", maxInput>>20)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.unreadable(name, err)
		return nil
	}
	r.files++
	defer r.endFile(name)
	return r.text(ctx, name, src.Bytes())
}

func (r *reader) unreadable(name string, err error) {
	r.problem(inventory.Problem{Where: name, What: "can't be read: " + infile.Cause(err), Fix: "let this user read it", Command: "ls -l " + shell.Word(name)})
}

// found are the files of a folder, before any is read.
type found struct {
	manifests, kustomizations []string
	// other: the folder was walked under another argument, or has files that may
	// hold manifests and aren't read.
	other bool
}

// folder reads a folder: what kustomize builds of it first, and then the files
// that no kustomization takes in.
func (r *reader) folder(ctx context.Context, path string) error {
	var f found
	if err := r.walk(ctx, path, &f); err != nil {
		return err
	}
	if len(f.manifests)+len(f.kustomizations) == 0 && !f.other {
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
	if !r.fresh(name) {
		f.other = true
		return fs.SkipDir
	}
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
		if what, fix, command := unreadForm(name); what != "" {
			f.other = true
			r.problem(inventory.Problem{Where: name, What: what + ", and wasn't read", Fix: fix, Command: command})
		}
		return
	}
	if kind := entry.Type() &^ fs.ModeSymlink; !kind.IsRegular() {
		r.problem(inventory.Problem{Where: name, What: "it isn't a regular file"})
		return
	}
	f.manifests = append(f.manifests, name)
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
