package bake

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/build/component"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/resolve"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/build/source/gomod"
	"github.com/winbake/winbake/internal/cli/app"
)

func newPin(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "pin NAME[@VERSION]", Args: cobra.ExactArgs(1), ValidArgsFunction: t.fromPins(componentNames)}
	pin := func(ctx context.Context, args []string) ([]pins.Change, error) {
		name, value, ok := strings.Cut(args[0], "@")
		if at := strings.IndexByte(name, '='); name == "" || ok && value == "" || !ok && at > 0 {
			example := "csi-proxy@v1.3.0"
			if !ok && at > 0 {
				example = name[:at] + "@" + name[at+1:]
			}
			return nil, &fault.Error{What: fmt.Sprintf("%q isn't NAME@VERSION", args[0]), Fix: "bake pin " + example}
		}
		return t.pin(ctx, name, value)
	}
	return app.Answer(t.App, "PinChangeList", cmd, pin, func([]pins.Change) [][]string { return nil })
}

// pin returns what of the component differs afterwards.
func (t *tool) pin(ctx context.Context, name, value string) ([]pins.Change, error) {
	before, err := pins.Load(t.file) // a mistake elsewhere is reported first, as it stands
	if err != nil {
		return nil, err
	}
	c, err := before.Component(name)
	if err != nil {
		return nil, err
	}
	if value == "" {
		if value, err = newestOf(ctx, c); err != nil {
			return nil, err
		}
	}
	src, err := pins.ReadFile(t.file)
	if err != nil {
		return nil, err
	}
	edited, err := pins.SetPin(t.file, src, name, value)
	if err != nil {
		return nil, err
	}
	file, err := pins.Parse(t.file, edited)
	if err != nil {
		return nil, err
	}
	was, err := pins.LoadLock(before)
	if err != nil {
		was = new(pins.Lock) // none yet
	}
	lock, results, err := t.resolve(ctx, file, []string{name})
	if err != nil {
		return nil, err
	}
	unlock, err := lockFolder(ctx, file)
	if err != nil {
		return nil, err
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	if err := replacePins(t.file, src, edited, func() error { return resolve.Write(file, lock, results) }); err != nil {
		return nil, err
	}
	is, err := pins.LoadLock(file)
	if err != nil {
		return nil, err
	}
	return pins.Diff(before, file, was, is), nil
}

func newestOf(ctx context.Context, c *pins.Component) (string, error) {
	if c.Branch == "" {
		return "", &fault.Error{Where: c.Name, What: "it follows no branch, so a version is needed", Fix: "bake pin " + c.Name + "@VERSION; bake outdated " + c.Name + " lists the newest"}
	}
	return gitsrc.Branch(ctx, c.Git, c.Branch)
}

// replacePins puts edited in the place of src. A link stays one, and what was
// written into the file since src was read isn't lost: to lock may take minutes.
// The lock is written first: killed in between, the next command says that the lock
// is stale and how to fix it, and no pin was lost.
func replacePins(path string, src, edited []byte, writeLock func() error) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("write the pins: %w", err)
	}
	now, err := infile.Read(target, infile.Text)
	if err != nil {
		return fmt.Errorf("read the pins again: %w", err)
	}
	if !bytes.Equal(now, src) {
		return &fault.Error{Where: path, What: "the file was changed while the pin was locked, and stays as it is now", Fix: "run the command again"}
	}
	if err := writeLock(); err != nil || bytes.Equal(src, edited) {
		return err
	}
	if err := atomicfs.WriteFile(target, edited); err != nil {
		return fmt.Errorf("write the pins: %w", err)
	}
	return nil
}

// outdatedRow is what is known of one component's newer versions.
type outdatedRow struct {
	Component string `json:"component"`
	Current   string `json:"current"`
	Patch     string `json:"patch,omitempty"`  // newest of the same minor
	Latest    string `json:"latest,omitempty"` // newest of all
	// Unknown says why no list of versions could be had.
	Unknown string `json:"unknown,omitempty"`
	// Cached is where its artifact is, with --cache-from: local, registry or no.
	Cached string `json:"cached,omitempty"`
	// failed: its source was asked and didn't answer.
	failed bool
}

func newOutdated(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "outdated [component...]", Args: cobra.ArbitraryArgs, ValidArgsFunction: t.fromPins(componentNames)}
	var o buildOptions
	o.sharedOptions.register(cmd)
	outdated := func(ctx context.Context, names []string) ([]outdatedRow, error) {
		rows, err := t.outdated(ctx, names)
		if len(o.from) == 0 || rows == nil {
			return rows, err
		}
		list, listErr := t.list(ctx, names, o)
		for i := range list {
			rows[i].Cached = list[i].Cached
		}
		return rows, errors.Join(err, listErr)
	}
	return app.Answer(t.App, "NewerVersionList", cmd, outdated, outdatedTable)
}

// outdated ends with exit code 4 where a source didn't answer: a script would take the
// table for the whole answer.
func (t *tool) outdated(ctx context.Context, names []string) ([]outdatedRow, error) {
	file, components, err := t.selected(names)
	if err != nil {
		return nil, err
	}
	host, err := gotool.NewHost(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]outdatedRow, len(components))
	var g errgroup.Group
	g.SetLimit(4)
	for i, c := range components {
		g.Go(func() error {
			rows[i] = askOne(ctx, &source.Env{Host: host}, source.Pin{File: file, Component: c})
			return nil
		})
	}
	_ = g.Wait() // what can't be had is part of the answer
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if slices.ContainsFunc(rows, func(r outdatedRow) bool { return r.failed }) {
		return rows, app.ExitCode(finding.ExitUnknown)
	}
	return rows, nil
}

func askOne(ctx context.Context, env *source.Env, p source.Pin) outdatedRow {
	row := outdatedRow{Component: p.Name, Current: p.Pinned()}
	current, all, err := component.Of(p.Component).Versions(ctx, env, p)
	if none, ok := errors.AsType[source.NoVersions](err); ok {
		row.Unknown = none.Error()
		return row
	}
	if err != nil {
		row.Unknown, row.failed = "not to be had: "+fault.FirstLine(err), true
		return row
	}
	if p.Branch != "" {
		if head := all[len(all)-1]; head != current {
			row.Latest = head
		}
		return row
	}
	row.Current = current
	known := false
	if row.Patch, row.Latest, known = gomod.Newer(current, all); !known {
		row.Unknown = "not to be had: " + current + " is no version to compare"
	}
	return row
}

// maxShown is what a version may take of a line; only a commit is longer.
const maxShown = 39

func outdatedTable(rows []outdatedRow) [][]string {
	return app.Table("COMPONENT CURRENT PATCH LATEST NOTE", rows, func(r outdatedRow) []string {
		note := r.Unknown
		if note == "" && r.Latest == "" {
			note = "up to date"
		}
		if r.Cached == cachedNo {
			note = strings.TrimPrefix(note+"; to be compiled", "; ")
		}
		latest := r.Latest
		if len(latest) > maxShown {
			latest = latest[:12] // a commit, as CURRENT has it
		}
		return []string{r.Component, r.Current, cmp.Or(r.Patch, "-"), cmp.Or(latest, "-"), note}
	})
}
