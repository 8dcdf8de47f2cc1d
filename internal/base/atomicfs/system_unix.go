//go:build unix

package atomicfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// LockDir waits until no other process or goroutine writes to dir, or until
// the context ends. unlock lets the next one in; so does the process's end. The
// error wraps fs.ErrNotExist when dir was removed meanwhile.
func LockDir(ctx context.Context, dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := waitForLock(ctx, f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f.Close, nil
}

// waitForLock asks again and again: flock can't be waited for together with a
// context.
func waitForLock(ctx context.Context, f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && !isAt(f, f.Name()) {
			return fs.ErrNotExist
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isAt tells whether an open folder is still the one of that name.
func isAt(f *os.File, name string) bool {
	open, err := f.Stat()
	now, nowErr := os.Stat(name)
	return err == nil && nowErr == nil && os.SameFile(open, now)
}

func mayWrite(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
