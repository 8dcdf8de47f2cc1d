// Package resolve turns pins into locks: it asks the module proxy and git
// what a pin stands for and writes down everything that a build depends on.
//
// It is the only package that writes versions.lock; builds read it.
package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/gotool"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source"
	"github.com/winbake/winbake/internal/source/file"
	"github.com/winbake/winbake/internal/source/gitsrc"
	"github.com/winbake/winbake/internal/source/gomod"
)

// Resolver resolves pins.
type Resolver struct {
	Host   *gotool.Host
	Git    *gitsrc.Cache
	Events event.Sink
	// Lock is what is locked now; see commitOf.
	Lock *pins.Lock
}

// Result is one component's lock: its entry in lock.yaml, and the go.mod and
// go.sum beside it. The files are nil where a build doesn't need them.
type Result struct {
	Locked       *pins.Locked
	GoMod, GoSum []byte
}

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
	result, err := r.byKind(ctx, f, c)
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

func (r *Resolver) byKind(ctx context.Context, f *pins.File, c *pins.Component) (*Result, error) {
	switch c.Kind() {
	case pins.KindModule:
		return r.module(ctx, f, c)
	case pins.KindGit:
		return r.tree(ctx, f, c)
	case pins.KindGitFile:
		return r.gitFile(ctx, c)
	case pins.KindFile:
		if err := file.Check(f, c); err != nil {
			return nil, err
		}
		return &Result{Locked: &pins.Locked{SHA256: c.SHA256}}, nil
	default:
		return nil, fmt.Errorf("component %s has no source", c.Name)
	}
}

func (r *Resolver) gitFile(ctx context.Context, c *pins.Component) (*Result, error) {
	commit, err := r.Git.Fetch(ctx, c.Git, c.Commit)
	if err != nil {
		return nil, err
	}
	content, err := commit.Open(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, content); err != nil {
		return nil, err
	}
	return &Result{Locked: &pins.Locked{
		Git: c.Git, Commit: commit.Hash, Tree: commit.Tree, Date: commit.Time.Format(time.RFC3339), SHA256: hex.EncodeToString(h.Sum(nil)),
	}}, nil
}

// tree locks a program of a git tree, as it is built in its checkout.
func (r *Resolver) tree(ctx context.Context, f *pins.File, c *pins.Component) (*Result, error) {
	commit, err := r.Git.Fetch(ctx, c.Git, c.Commit)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "winbake-lock-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the checkout: %w", err)
	}
	defer os.RemoveAll(dir)
	w, err := source.Tree(ctx, commit, dir, c)
	if err != nil {
		return nil, err
	}
	locked := &pins.Locked{Git: c.Git, Commit: commit.Hash, Tree: commit.Tree, Date: commit.Time.Format(time.RFC3339), Vendored: w.Vendored()}
	if err := r.finish(ctx, f, c, w, locked); err != nil {
		return nil, err
	}
	result := &Result{Locked: locked}
	if !w.Vendored() {
		result.GoMod, result.GoSum = w.GoMod, w.GoSum
		locked.GoMod, locked.GoSum = sum(w.GoMod), sum(w.GoSum)
	}
	return result, nil
}

// finish asks what the program is made of and writes it into locked.
func (r *Resolver) finish(ctx context.Context, f *pins.File, c *pins.Component, w *source.Workspace, locked *pins.Locked) error {
	linked, err := gomod.List(ctx, w.Query(r.Host.Tool(c.Toolchain(f)), c))
	if err != nil {
		return failure(c, err)
	}
	if err := checkStamps(c, linked); err != nil {
		return err
	}
	if err := mainLines(w.GoMod, locked); err != nil {
		return err
	}
	locked.Toolchain = c.Toolchain(f)
	locked.DefaultGODEBUG = linked.DefaultGODEBUG
	if c.Kind() == pins.KindGit {
		locked.Main, locked.MainModule = linked.Main, linked.MainModule
	}
	locked.Modules, err = lockedModules(w, linked)
	if err != nil {
		return err
	}
	_, err = c.Stamps(locked, "")
	return err
}

// failure makes go's own words readable as the answer to "why not".
func failure(c *pins.Component, err error) error {
	f, ok := errors.AsType[*gotool.Failure](err)
	if !ok {
		return err
	}
	return &fault.Error{Where: c.Name, What: "its packages can't be resolved", Excerpt: f.Message, Err: err,
		Fix: "check package: and the version, and that GOPROXY has every module of it"}
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
