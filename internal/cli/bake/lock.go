package bake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/gotool"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/resolve"
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
	return t.lockWith(ctx, file, names, func(write func() error) error { return write() })
}

// lockWith is lock whose end, which writes, is put's. One run at a time is there.
func (t *tool) lockWith(ctx context.Context, file *pins.File, names []string, put func(write func() error) error) error {
	components, err := file.Select(names)
	if err != nil {
		return err
	}
	host, err := gotool.NewHost(ctx)
	if err != nil {
		return err
	}
	git, err := t.git()
	if err != nil {
		return err
	}
	lock, err := t.oldLock(file, len(components) == len(file.All()))
	if err != nil {
		return err
	}
	r := &resolve.Resolver{Host: host, Git: git, Events: t.Console, Lock: lock}
	results, resolveErr := r.Resolve(ctx, file, components)
	if len(results) == 0 {
		return resolveErr
	}
	_, unlock, err := atomicfs.MakeLocked(ctx, file.LockDir())
	if err != nil {
		return fmt.Errorf("write the lock: %w", err)
	}
	defer unlock() //nolint:errcheck // closes a folder opened to be locked
	if err := put(func() error { return resolve.Write(file, lock, results) }); err != nil {
		return err
	}
	return resolveErr
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
