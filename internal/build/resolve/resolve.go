// Package resolve turns pins into locks: it asks the module proxy and git
// what a pin means and writes down everything that a build depends on.
//
// It is the only package that writes versions.lock; builds read it.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/component"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
)

// Resolver resolves pins.
type Resolver source.Env

// Result is one component's lock.
type Result = source.Result

// Resolve locks components, in parallel. One that fails doesn't cost the
// others' results; the error joins every component's own, and what several say
// alike, of one repository, once.
func (r *Resolver) Resolve(ctx context.Context, f *pins.File, components []*pins.Component) (map[string]*Result, error) {
	results := make([]*Result, len(components))
	errs := make([]error, len(components))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range components {
		g.Go(func() error {
			if ctx.Err() == nil {
				results[i], errs[i] = r.one(ctx, f, c)
			}
			return nil
		})
	}
	_ = g.Wait() // errors are kept apart, by component
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	named := map[string]*Result{}
	for i, c := range components {
		if errs[i] == nil {
			named[c.Name] = results[i]
		}
	}
	said := map[string]bool{}
	return named, errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		if err == nil || said[err.Error()] {
			return true
		}
		said[err.Error()] = true
		return false
	})...)
}

func (r *Resolver) one(ctx context.Context, f *pins.File, c *pins.Component) (*Result, error) {
	r.emit(c, event.Start, "")
	began := time.Now()
	result, err := component.Of(c).Lock(ctx, (*source.Env)(r), source.Pin{File: f, Component: c})
	if err != nil {
		if ctx.Err() == nil {
			r.emit(c, event.Failed, "")
		}
		if _, ok := errors.AsType[*fault.Error](err); !ok {
			err = &fault.Error{Where: c.Name, What: "it can't be locked", Excerpt: err.Error(), Err: err}
		}
		return nil, err
	}
	result.Locked.Pin = c.PinDigest(f)
	r.emit(c, event.Done, time.Since(began).Round(100*time.Millisecond).String())
	return result, nil
}

func (r *Resolver) emit(c *pins.Component, s event.State, message string) {
	r.Events.Emit(event.Event{Object: c.Name, Phase: event.Resolve, State: s, Message: message})
}

// Write merges results into the lock that is in file's lock folder now, since others
// may have written it while this run resolved, or into lock where none can be read.
// The folder is locked meanwhile, by who calls.
// lock.yaml, which holds the sums of the other files, is written last: a killed
// run leaves a lock that doesn't match its sums and is refused, never one that
// seems right.
func Write(file *pins.File, lock *pins.Lock, results map[string]*Result) error {
	dir := file.LockDir()
	if now, err := pins.LoadLock(file); err == nil {
		lock = now
	}
	texts, err := pins.Texts(file)
	if err != nil {
		texts = pins.LicenseTexts{} // it is written again
	}
	for name, r := range results {
		maps.Copy(texts, r.Texts)
		r.Locked.KeepOutput(name, lock.Components[name])
		lock.Seal(name, r.Locked)
		if err := writeFiles(filepath.Join(dir, name), r); err != nil {
			return err
		}
	}
	if err := prune(file, lock); err != nil {
		return err
	}
	if err := writeTexts(file, lock, texts); err != nil {
		return err
	}
	return lock.Write(dir)
}

func writeTexts(file *pins.File, lock *pins.Lock, texts pins.LicenseTexts) error {
	path := filepath.Join(file.LockDir(), pins.LicensesName)
	data, err := texts.Encode(slices.Collect(maps.Values(lock.Components)))
	switch {
	case err != nil:
		return &fault.Error{Where: path, What: fault.FirstLine(err), Fix: pins.LockCommand(file), Code: finding.ExitBlock, Err: err}
	case data != nil:
		return atomicfs.WriteFile(path, data)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func writeFiles(dir string, r *Result) error {
	if r.GoMod == nil {
		return os.RemoveAll(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the lock folder: %w", err)
	}
	for name, data := range map[string][]byte{"go.mod": r.GoMod, "go.sum": r.GoSum} {
		if err := atomicfs.WriteFile(filepath.Join(dir, name), data); err != nil {
			return fmt.Errorf("write the lock: %w", err)
		}
	}
	return nil
}

// prune drops the locks of components that versions.yaml no longer has.
func prune(file *pins.File, lock *pins.Lock) error {
	known := map[string]bool{}
	for _, c := range file.All() {
		known[c.Name] = true
	}
	maps.DeleteFunc(lock.Components, func(name string, _ *pins.Locked) bool { return !known[name] })
	entries, err := os.ReadDir(file.LockDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the lock folder: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !known[e.Name()] {
			if err := os.RemoveAll(filepath.Join(file.LockDir(), e.Name())); err != nil {
				return fmt.Errorf("drop a left-over lock: %w", err)
			}
		}
	}
	return nil
}
