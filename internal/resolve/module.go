package resolve

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/gotool"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source"
	"github.com/winbake/winbake/internal/source/gomod"
)

// module locks a program of a Go module: a synthetic main module, made of
// upstream's go.mod and go.sum, with the few sums that upstream doesn't need.
func (r *Resolver) module(ctx context.Context, f *pins.File, c *pins.Component) (*Result, error) {
	tool := r.Host.Tool(c.Toolchain(f))
	m, err := gomod.Download(ctx, tool, c.Module, c.Version)
	if err != nil {
		return nil, err
	}
	upstream, err := os.ReadFile(m.GoMod)
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	id := module.Version{Path: m.Path, Version: m.Version}
	locals, err := r.locals(ctx, tool, m, id, upstream)
	if err != nil {
		return nil, err
	}
	main, err := gomod.Synthesize(c.Name, id, upstream, locals, source.Override(c))
	if err != nil {
		return nil, err
	}
	w, err := r.complete(ctx, tool, c, m, modfile.Format(main.Syntax))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(w.Dir)
	return r.lockModule(ctx, f, c, m, w, upstream, locals)
}

func (r *Resolver) lockModule(ctx context.Context, f *pins.File, c *pins.Component, m *gomod.Module, w *source.Workspace,
	upstream []byte, locals map[string]module.Version,
) (*Result, error) {
	locked := &pins.Locked{Module: m.Path, Version: m.Version, Sum: m.Sum, GoMod: sum(w.GoMod), GoSum: sum(w.GoSum)}
	var err error
	if locked.Commit, err = r.commitOf(c, m); err != nil {
		return nil, err
	}
	if err := r.finish(ctx, f, c, w, locked); err != nil {
		return nil, err
	}
	drift, err := gomod.Drift(linkedOf(locked), module.Version{Path: m.Path, Version: m.Version}, upstream, locals)
	if err != nil {
		return nil, err
	}
	if len(drift) > 0 {
		return nil, &fault.Error{Where: c.Name, What: "the program would be built of other versions than upstream's", Excerpt: strings.Join(drift, "\n"),
			Fix: "pin the program's source by git and commit, or report this: its go.mod is of a form that isn't known"}
	}
	return &Result{Locked: locked, GoMod: w.GoMod, GoSum: w.GoSum}, nil
}

// locals finds the published versions of the modules that upstream replaces
// by folders of its own tree, and makes sure that they are of one commit.
func (r *Resolver) locals(ctx context.Context, tool *gotool.Tool, m *gomod.Module, id module.Version, upstream []byte) (map[string]module.Version, error) {
	folders, err := gomod.LocalReplaces(upstream)
	if err != nil {
		return nil, err
	}
	locals := map[string]module.Version{}
	for path, folder := range folders {
		version, ok := gomod.LocalVersion(id, path)
		if !ok {
			return nil, &fault.Error{Where: id.String(), What: fmt.Sprintf("its go.mod replaces %s by the folder %s, which isn't published with it", path, folder),
				Fix: "pin the component by git: and commit:"}
		}
		locals[path] = module.Version{Path: path, Version: version}
		// Kubernetes publishes its folders from repositories of their own,
		// where no common commit exists to compare.
		if !strings.HasPrefix(path, id.Path+"/") {
			continue
		}
		nested, err := gomod.Download(ctx, tool, path, version)
		if err != nil {
			return nil, err
		}
		if a, b := m.Commit(), nested.Commit(); a != "" && b != "" && a != b {
			return nil, &fault.Error{Where: id.String(), What: fmt.Sprintf("%s@%s was made of commit %s, not of %s", path, version, b, a),
				Fix: "pin the component by git: and commit:"}
		}
	}
	return locals, nil
}

// complete lets the go command add the sums that upstream's go.sum lacks: its
// own, and those of folders that are modules now. It may not change go.mod
// beyond comments, or other versions would be built.
func (r *Resolver) complete(ctx context.Context, tool *gotool.Tool, c *pins.Component, m *gomod.Module, main []byte) (_ *source.Workspace, err error) {
	sums, err := os.ReadFile(filepath.Join(m.Dir, "go.sum"))
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read go.sum: %w", err)
	}
	dir, err := os.MkdirTemp("", "winbake-lock-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the lock: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	w, err := source.Module(dir, c, main, sums)
	if err != nil {
		return nil, err
	}
	q := w.Query(tool, c)
	q.Mod = "mod"
	if _, err := gomod.List(ctx, q); err != nil {
		return nil, failure(c, err)
	}
	if w.GoMod, err = os.ReadFile(filepath.Join(dir, "go.mod")); err != nil {
		return nil, fmt.Errorf("read go.mod back: %w", err)
	}
	if w.GoSum, err = os.ReadFile(filepath.Join(dir, "go.sum")); err != nil {
		return nil, fmt.Errorf("read go.sum back: %w", err)
	}
	if !bytes.Contains(w.GoSum, []byte(m.Path+" "+m.Version+" "+m.Sum+"\n")) {
		return nil, fmt.Errorf("go.sum got no sum for %s %s", m.Path, m.Version)
	}
	return w, nil
}

// mainLines notes what the main module says of Go and GODEBUG.
func mainLines(main []byte, locked *pins.Locked) error {
	var godebug []*modfile.Godebug
	if f, err := modfile.Parse("go.mod", main, nil); err == nil {
		locked.GoLine, godebug = goLine(f.Go), f.Godebug
	} else if w, workErr := modfile.ParseWork("go.work", main, nil); workErr == nil {
		locked.GoLine, godebug = goLine(w.Go), w.Godebug
	} else {
		return fmt.Errorf("read the main module: %w", err)
	}
	for _, g := range godebug {
		locked.Godebug = append(locked.Godebug, g.Key+"="+g.Value)
	}
	slices.Sort(locked.Godebug)
	return nil
}

func goLine(g *modfile.Go) string {
	if g == nil {
		return gomod.NoGoLine
	}
	return g.Version
}
