// Package bake is the bake command: its flags, and for each pipeline one
// function that wires packages together. Read those and you know the program.
package bake

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/bundle"
	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/cli/app"
)

//go:embed help
var help embed.FS

type tool struct {
	*app.App
	file     string // versions.yaml
	cacheDir string
	unpacked string // the folder of --from-bundle; "" for none
}

// cachePath returns the cache folder, absolute: git and go run elsewhere.
func (t *tool) cachePath() (string, error) {
	dir := t.cacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", &fault.Error{What: "no place for a cache: " + err.Error(), Fix: "set HOME or XDG_CACHE_HOME, or pass --cache-dir", Err: err}
		}
		dir = filepath.Join(base, "winbake")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return abs, nil
}

func (t *tool) store() (*cache.Store, error) {
	dir, err := t.cachePath()
	if err != nil {
		return nil, err
	}
	return cache.Open(dir)
}

// cacheFolder is a folder of the cache that isn't the store's.
func (t *tool) cacheFolder(name string) (string, error) {
	dir, err := t.cachePath()
	if err == nil {
		err = cache.Prepare(dir)
	}
	return filepath.Join(dir, name), err
}

func (t *tool) git() (*gitsrc.Cache, error) {
	dir, err := t.cacheFolder("git")
	return gitsrc.NewCache(dir), err
}

func (t *tool) builder(ctx context.Context, o buildOptions) (*compile.Builder, error) {
	store, err := t.store()
	if err != nil {
		return nil, err
	}
	shared, err := t.shared(o)
	if err != nil {
		return nil, err
	}
	host, err := gotool.NewHost(ctx)
	if err != nil && (shared == nil || !shared.NoCompile) { // a machine that compiles nothing needs no Go
		return nil, err
	}
	git, err := t.git()
	if err != nil {
		return nil, err
	}
	memory, err := pins.ParseSize(o.memory)
	if err != nil {
		return nil, &fault.Error{What: "--memory: " + err.Error(), Fix: "give a size such as 8GiB", Err: err}
	}
	store.Trim()
	b := &compile.Builder{
		Host: host, Store: store, Git: git, Events: t.Console,
		Jobs: o.jobs, Memory: memory, NoCache: o.noCache, KeepGoing: o.keepGoing, Shared: shared,
	}
	return b, t.useBundle(b, o.bundle)
}

// useBundle has a builder take all sources from a bundle.
func (t *tool) useBundle(b *compile.Builder, file string) error {
	if file == "" {
		return nil
	}
	folder, err := t.cacheFolder("bundle")
	if err != nil {
		return err
	}
	t.unpacked, b.Git, err = bundle.Open(file, folder, b.Host)
	return err
}

type buildOptions struct {
	jobs      int
	memory    string
	noCache   bool
	keepGoing bool
	record    bool
	bundle    string
	sharedOptions
}

func (o *buildOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&o.jobs, "jobs", "j", 0, "components to build at once (default one per core)")
	f.StringVar(&o.memory, "memory", "", "memory that builds may use together, such as 8GiB (default what is free)")
	f.BoolVar(&o.noCache, "no-cache", false, "run every action again")
	f.BoolVarP(&o.keepGoing, "keep-going", "k", false, "go on with other components after one has failed")
	o.sharedOptions.register(cmd)
	f.StringVar(&o.to, "cache-to", "", "registry's repository that gets the artifacts that it lacks")
}

// registerLocked adds what needs a lock.
func (o *buildOptions) registerLocked(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.noCompile, "no-compile", false, "fail rather than compile: no Go and no git are needed then")
	f.StringVar(&o.bundle, "from-bundle", "", "take all sources from this file of bake bundle, and none from the network")
	f.BoolVar(&o.record, "record", false, "write the sums of what is built into versions.lock")
}

// jobs loads pins and lock, refuses a lock that isn't theirs, and describes
// what is to be built. names may be empty for all components.
func (t *tool) jobs(names []string) (*pins.File, []*compile.Job, error) {
	file, err := pins.Load(t.file)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 && len(file.Drivers) > 0 {
		for _, c := range file.Components { // drivers aren't of the payload
			names = append(names, c.Name)
		}
	}
	jobs, err := t.lockedJobs(file, names)
	return file, jobs, err
}

func (t *tool) selected(names []string) (*pins.File, []*pins.Component, error) {
	file, err := pins.Load(t.file)
	if err != nil {
		return nil, nil, err
	}
	components, err := file.Select(names)
	return file, components, err
}

func (t *tool) lockedJobs(file *pins.File, names []string) (jobs []*compile.Job, err error) {
	ready, err := file.Ready(names, sourceDateEpoch())
	for _, r := range ready {
		jobs = append(jobs, &compile.Job{File: file, Component: r.Component, Locked: r.Locked, Stamps: r.Stamps})
	}
	return jobs, err
}

// trimmed takes the spaces and empty names out of what --only "a, b" names.
func trimmed(names []string) (kept []string) {
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" {
			kept = append(kept, n)
		}
	}
	return kept
}

// fromPins completes with names that the file in use gives.
func (t *tool) fromPins(names func(*pins.File) []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		file, err := pins.Load(t.file)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names(file), cobra.ShellCompDirectiveNoFileComp
	}
}

func componentNames(file *pins.File) (names []string) {
	for _, c := range file.All() {
		names = append(names, c.Name)
	}
	return names
}
