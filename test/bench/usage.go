package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// usage is what a piece of work cost.
type usage struct {
	cpu, wall time.Duration // cpu: user and system, children included
	peak      int64         // bytes, of the largest process
	size      int64         // bytes of what it wrote, if that is of interest
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

// least takes the least of each figure: what else runs on the machine can only
// add to them.
func (u usage) least(v usage) usage {
	return usage{cpu: min(u.cpu, v.cpu), wall: min(u.wall, v.wall), peak: max(u.peak, v.peak), size: v.size}
}

// measure runs a command and returns the kernel's figures for it.
//
// Linux counts what the parent had in memory when it forked as the child's
// peak too. That is a few MiB here, and errs to the safe side.
func measure(ctx context.Context, name string, args ...string) (usage, error) {
	cmd := command(ctx, name, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, log.String())
	}
	u := usage{wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return u, errors.New("the kernel tells nothing of memory")
	}
	u.peak = r.Maxrss << 10 // KiB, on Linux
	return u, nil
}

// command is stopped softly, so that bake cleans up after itself.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// output runs a command that isn't measured.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	out, err := command(ctx, name, args...).Output()
	if err == nil {
		return out, nil
	}
	err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return nil, err
}
