package bake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
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
		return output.Write(t.Stdout, stale, func() [][]string { return [][]string{{file.LockDir() + " is current"}} })
	}
	err = pins.StaleError(file, stale)
	if output.String() == "json" {
		err = errors.Join(output.JSON(t.Stdout, stale), err)
	}
	return err
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
