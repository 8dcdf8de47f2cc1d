// Package module is the kind of component that is a program of a Go module,
// pinned by version.
package module

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/build/component/program"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

// Kind is a component.Program.
type Kind struct{}

// Revision is the first.
func (Kind) Revision() int { return 1 }

// Versions are those that the module proxy has.
func (Kind) Versions(ctx context.Context, env *source.Env, p source.Pin) (current string, all []string, err error) {
	all, err = gomod.Versions(ctx, env.Host.Tool(p.Toolchain(p.File)), p.Module, p.Version)
	return p.Version, all, err
}

// Workspace is the synthetic main module that was locked.
func (Kind) Workspace(_ context.Context, _ *source.Env, p source.Pin, dir string) (*source.Workspace, error) {
	lockDir := filepath.Join(p.File.LockDir(), p.Name)
	var files [2][]byte
	for i, name := range []string{"go.mod", "go.sum"} {
		data, err := infile.Read(filepath.Join(lockDir, name), infile.Text)
		if err != nil {
			return nil, &fault.Error{Where: lockDir, What: "the lock of " + p.Name + " can't be read", Fix: p.LockCommand(), Err: err}
		}
		files[i] = data
	}
	return source.Module(dir, p.Component, files[0], files[1])
}

// Lock makes a synthetic main module of upstream's go.mod and go.sum, with the
// few sums that upstream doesn't need.
func (Kind) Lock(ctx context.Context, env *source.Env, p source.Pin) (*source.Result, error) {
	tool := env.Host.Tool(p.Toolchain(p.File))
	m, err := gomod.Download(ctx, tool, p.Module, p.Version)
	if err != nil {
		return nil, err
	}
	if why := gomod.Retracted(ctx, tool, m.Path, m.Version); why != "" {
		env.Events.Emit(event.Event{Object: p.Name, Phase: event.Resolve, State: event.Warning, Message: m.Version + " was retracted: " + why})
	}
	upstream, err := os.ReadFile(m.GoMod)
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	id := module.Version{Path: m.Path, Version: m.Version}
	locals, err := locals(ctx, tool, m, id, upstream)
	if err != nil {
		return nil, err
	}
	main, err := gomod.Synthesize(p.Name, id, upstream, locals, p.Godebug)
	if err != nil {
		return nil, err
	}
	w, err := complete(ctx, tool, p.Component, m, modfile.Format(main.Syntax))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(w.Dir)
	locked := &pins.Locked{Module: m.Path, Version: m.Version, Sum: m.Sum}
	if locked.Commit, err = commitOf(env, p.Component, m); err != nil {
		return nil, err
	}
	linked, result, err := program.Describe(ctx, env, p, w, locked)
	if err != nil {
		return nil, err
	}
	return result, checkDrift(p.Component, linked, id, upstream, locals)
}

// checkDrift refuses a main module that would build other versions than
// upstream's.
func checkDrift(c *pins.Component, linked *gomod.Linked, id module.Version, upstream []byte, locals map[string]module.Version) error {
	drift, err := gomod.Drift(linked.Modules, id, upstream, locals)
	if err == nil && len(drift) > 0 {
		err = &fault.Error{Where: c.Name, What: "the program would be built of other versions than upstream's", Excerpt: strings.Join(drift, "\n"),
			Fix: "pin the program's source by git and commit, or report this: its go.mod is of a form that isn't known"}
	}
	return err
}

// locals finds the published versions of the modules that upstream replaces
// by folders of its own tree, and makes sure that they are of one commit.
func locals(ctx context.Context, tool *gotool.Tool, m *gomod.Module, id module.Version, upstream []byte) (map[string]module.Version, error) {
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
func complete(ctx context.Context, tool *gotool.Tool, c *pins.Component, m *gomod.Module, main []byte) (_ *source.Workspace, err error) {
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
		return nil, program.Failure(c, err)
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
