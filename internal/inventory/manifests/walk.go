package manifests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/shell"
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
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// fresh tells whether a file is met for the first time, by whatever name.
func (r *reader) fresh(name string) bool {
	resolved := realPath(name)
	if r.seen[resolved] {
		return false
	}
	r.seen[resolved] = true
	return true
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
	if info, err := f.Stat(); err == nil && info.Size() < maxInput && info.Size() >= int64(cap(r.buf)) {
		r.buf = make([]byte, 0, info.Size()+512)
	}
	return r.input(ctx, name, f)
}

func (r *reader) standardInput(ctx context.Context) error {
	if r.stdin == nil {
		return errors.New("read the manifests: there is no standard input")
	}
	if r.seen["-"] {
		return nil
	}
	r.seen["-"] = true
	return r.input(ctx, "<stdin>", r.stdin)
}

func (r *reader) input(ctx context.Context, name string, in io.Reader) error {
	src, err := r.slurp(ctx, in)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.unreadable(name, err)
		return nil
	}
	r.files++
	defer r.endFile(name)
	return r.text(ctx, name, src)
}

// slurp reads into the buffer of the file before, so that a thousand files
// don't make a thousand buffers.
func (r *reader) slurp(ctx context.Context, in io.Reader) ([]byte, error) {
	buf := r.buf[:0]
	if cap(buf) == 0 {
		buf = make([]byte, 0, 64<<10)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := in.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		r.buf = buf
		switch {
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err
		case len(buf) > maxInput:
			return nil, fmt.Errorf("it is larger than %d MiB: give it in parts", maxInput>>20)
		}
	}
}

func (r *reader) unreadable(name string, err error) {
	r.problem(inventory.Problem{Where: name, What: "can't be read: " + infile.Cause(err), Fix: "let this user read it", Command: "ls -l " + shell.Word(name)})
}
