package bake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/resolve"
	"github.com/winbake/winbake/internal/cli/app"
)

func newLock(t *tool) *cobra.Command {
	var check bool
	output := app.NewOutput("StaleLockList", []pins.Stale{})
	cmd := &cobra.Command{
		Use:  "lock [component...]",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: t.fromPins(componentNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check {
				return t.checkLock(args, &output)
			}
			if output.String() == "json" {
				return &fault.Error{What: "-o json lists what --check finds", Fix: "bake lock --check -o json, or leave -o out"}
			}
			file, err := pins.Load(t.file)
			if err != nil {
				return err
			}
			return t.lock(cmd.Context(), file, args)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only compare versions.lock with versions.yaml; exit 3 if it's stale")
	output.Register(cmd)
	return cmd
}

func (t *tool) checkLock(names []string, output *app.Output) error {
	file, _, err := t.selected(names)
	if err != nil {
		return err
	}
	lock, err := pins.LoadLock(file)
	if err != nil {
		return err
	}
	stale := lock.Check(file, names...)
	if len(stale) == 0 {
		if err := t.checkOutputs(file, names); err != nil {
			return err
		}
		return output.Write(t.Stdout, stale, func() [][]string { return [][]string{{file.LockDir() + " is current"}} })
	}
	err = pins.StaleError(file, stale)
	if output.String() == "json" {
		err = errors.Join(output.JSON(t.Stdout, stale), err)
	}
	return err
}

// checkOutputs says which programs have no output of their action in the lock, where
// others have one: no registry is believed for them.
func (t *tool) checkOutputs(file *pins.File, names []string) error {
	jobs, err := t.lockedJobs(file, names)
	if err != nil {
		return err
	}
	var without []string
	recorded := false
	for _, j := range jobs {
		recorded = recorded || j.Locked.Output != nil
		switch toolchain := j.Component.Toolchain(file); {
		case !j.Component.Program(), toolchain == gotool.Local:
		case j.Locked.Output == nil:
			without = append(without, j.Component.Name+" (none)")
		case j.Locked.Output.Action != compile.NewAction(j, toolchain).Digest():
			without = append(without, j.Component.Name+" (of another action)")
		}
	}
	if recorded && len(without) > 0 {
		t.Tell(file.LockDir(), event.Resolve, event.Note, "output missing: "+strings.Join(without, ", ")+"; bake build --record writes it")
	}
	return nil
}

// lock resolves the named components, or all, and writes what could be
// resolved even if others failed.
func (t *tool) lock(ctx context.Context, file *pins.File, names []string) error {
	lock, results, resolveErr := t.resolve(ctx, file, names)
	if len(results) == 0 {
		return resolveErr
	}
	unlock, err := lockFolder(ctx, file)
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	if err := resolve.Write(file, lock, results); err != nil {
		return err
	}
	return resolveErr
}

// resolve returns what is known of the named components, or of all, and the lock as it
// was before. Some may have failed.
func (t *tool) resolve(ctx context.Context, file *pins.File, names []string) (*pins.Lock, map[string]*resolve.Result, error) {
	components, err := file.Select(names)
	if err != nil {
		return nil, nil, err
	}
	host, err := gotool.NewHost(ctx)
	if err != nil {
		return nil, nil, err
	}
	git, err := t.git()
	if err != nil {
		return nil, nil, err
	}
	lock, err := t.oldLock(file, len(components) == len(file.All()))
	if err != nil {
		return nil, nil, err
	}
	r := &resolve.Resolver{Host: host, Git: git, Events: t.Console, Lock: lock}
	results, err := r.Resolve(ctx, file, components)
	return lock, results, err
}

// lockFolder lets one run at a time write the lock.
func lockFolder(ctx context.Context, file *pins.File) (unlock func() error, err error) {
	if _, unlock, err = atomicfs.MakeLocked(ctx, file.LockDir()); err != nil {
		return nil, fmt.Errorf("write the lock: %w", err)
	}
	return unlock, nil
}

// oldLock is the lock that is there, or an empty one. One whose text is broken
// is only replaced as a whole.
func (t *tool) oldLock(file *pins.File, whole bool) (*pins.Lock, error) {
	lock, err := pins.LoadLock(file)
	broken := errors.Is(err, pins.ErrNoLock)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !(whole && broken) {
		return lock, err
	}
	if broken {
		t.Tell(file.LockDir(), event.Resolve, event.Warning, "lock.yaml couldn't be read and is written again; commits that only it knew are asked for")
	}
	return &pins.Lock{Components: map[string]*pins.Locked{}}, nil
}

// record writes the sums of programs into the lock.
func (t *tool) record(ctx context.Context, file *pins.File, artifacts []*compile.Artifact) error {
	unlock, err := lockFolder(ctx, file)
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	lock, err := pins.LoadLock(file)
	if err != nil {
		return err
	}
	changed := false
	for _, a := range artifacts {
		locked := lock.Components[a.Component]
		if a.Action == "" || locked == nil {
			continue
		}
		output := pins.Output{Action: a.Action, SHA256: a.Digest, Size: a.Size}
		if have := locked.Output; have != nil && *have == output {
			continue
		} else if have != nil && have.Action == output.Action {
			return &fault.Error{Where: file.LockDir(), What: a.Component + " was built into other bytes than the lock has for the same action: " + output.SHA256 + ", not " + have.SHA256,
				Fix: "build it on a third machine: bake build --no-cache " + a.Component}
		}
		changed = true
		locked.Output = &output
		lock.Seal(a.Component, locked)
		t.Tell(a.Component, event.Resolve, event.Done, "recorded "+output.SHA256)
	}
	if !changed {
		return nil
	}
	return lock.Write(file.LockDir())
}
