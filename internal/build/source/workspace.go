// Package source makes the folder that the go command runs in to build one
// program: a synthetic main module, or a checkout of a git tree.
//
// Its subpackages bring the sources; package compile runs the compiler.
package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

// Workspace is a folder that the go command runs in.
type Workspace struct {
	Dir string
	// Mod is the -mod flag: readonly, or vendor.
	Mod string
	// Target are the settings of every go command that runs here.
	Target []gotool.Setting
	// GoMod and GoSum are the main module's, as the build sees them; GoSum
	// is nil for a vendored tree.
	GoMod, GoSum []byte
}

// Vendored reports whether dependencies come from the tree itself.
func (w *Workspace) Vendored() bool { return w.Mod == "vendor" }

// Query returns the question about pkg that package gomod answers.
func (w *Workspace) Query(tool *gotool.Tool, c *pins.Component) gomod.Query {
	return gomod.Query{Tool: tool, Dir: w.Dir, Package: c.BuildPackage(), Tags: c.Tags, Target: w.Target, Mod: w.Mod}
}

// Module writes a synthetic main module into dir.
func Module(dir string, c *pins.Component, gomod, gosum []byte) (*Workspace, error) {
	for name, data := range map[string][]byte{"go.mod": gomod, "go.sum": gosum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return nil, fmt.Errorf("write the synthetic module: %w", err)
		}
	}
	return &Workspace{Dir: dir, Mod: "readonly", Target: gotool.Target(c.FIPS), GoMod: gomod, GoSum: gosum}, nil
}

// Tree checks a commit out below dir and finds out how its module is built:
// from its own vendor folder where it has one, as a part of a Go workspace
// where that folder was made by `go work vendor` (Kubernetes from 1.30 on).
func Tree(ctx context.Context, commit *gitsrc.Commit, dir string, c *pins.Component) (*Workspace, error) {
	top := filepath.Join(dir, "tree")
	if err := commit.Checkout(ctx, top, c.Submodules); err != nil {
		return nil, err
	}
	w := &Workspace{Dir: filepath.Join(top, filepath.FromSlash(c.Dir)), Mod: "readonly", Target: gotool.Target(c.FIPS)}
	main := filepath.Join(w.Dir, "go.mod")
	modules, err := os.ReadFile(filepath.Join(w.Dir, "vendor", "modules.txt"))
	if err == nil {
		w.Mod = "vendor"
		if bytes.HasPrefix(modules, []byte("## workspace")) {
			main = filepath.Join(w.Dir, "go.work")
			w.Target = with(w.Target, "GOWORK", main)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read vendor/modules.txt: %w", err)
	}
	if w.GoMod, err = rewrite(main, c.Godebug); err != nil {
		return nil, err
	}
	if w.Mod == "readonly" {
		if w.GoSum, err = os.ReadFile(filepath.Join(w.Dir, "go.sum")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read go.sum: %w", err)
		}
	}
	return w, nil
}

// rewrite applies a GODEBUG override to a checkout's go.mod or go.work and
// returns what it holds then.
func rewrite(path string, o *pins.Godebug) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the main module: %w", err)
	}
	if o == nil {
		return data, nil
	}
	if filepath.Base(path) == "go.work" {
		return nil, fmt.Errorf("%s: godebug can't be overridden in a workspace; it comes from go.work", path)
	}
	f, err := modfile.Parse(path, data, nil)
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	if err := gomod.SetGodebug(f, o); err != nil {
		return nil, err
	}
	if data, err = f.Format(); err != nil {
		return nil, fmt.Errorf("write go.mod: %w", err)
	}
	return data, os.WriteFile(path, data, 0o644)
}

func with(settings []gotool.Setting, name, value string) []gotool.Setting {
	for i := range settings {
		if settings[i].Name == name {
			settings[i].Value = value
		}
	}
	return settings
}
