// Package filelock keeps two test processes from making the same thing at the
// same time, or from removing what the other uses.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Wait waits for the file at path until nobody else has it locked. The end
// of a process, however sudden, unlocks it.
func Wait(ctx context.Context, path string) (unlock func(), err error) {
	for {
		unlock, err := Try(path)
		if unlock != nil || err != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Try returns nil for both if somebody else has the file locked.
func Try(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return func() { f.Close() }, nil
	case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, unix.EINTR):
		return nil, f.Close()
	default:
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}
