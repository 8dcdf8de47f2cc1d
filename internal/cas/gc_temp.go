package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

func (c *collector) sweepTemp() error {
	entries, err := os.ReadDir(c.temp())
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		err := c.removeTemp(filepath.Join(c.temp(), e.Name()), e.IsDir())
		if !errors.Is(err, fs.ErrPermission) { // another user's, who removes it
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// removeTemp removes an entry of tmp unless its owner lives.
func (c *collector) removeTemp(path string, dir bool) error {
	lockPath := path
	if dir {
		lockPath = filepath.Join(path, tempLockName)
	}
	unlock, err := c.exclude()
	if err != nil {
		return err
	}
	lock, err := tryLock(lockPath)
	unlock()
	switch {
	case dir && errors.Is(err, fs.ErrNotExist):
		// Its owner was killed while making it, or while removing it.
	case errors.Is(err, fs.ErrNotExist), err == nil && lock == nil:
		return nil
	case err != nil:
		return err
	case runtime.GOOS == "windows": // which removes no open file
		lock.Close()
	default:
		defer lock.Close()
	}
	size, err := tally(path)
	if err != nil {
		return err
	}
	if err := removeAll(path); err != nil {
		return err
	}
	c.freed.Temp.Count += size.Count
	c.freed.Temp.Bytes += size.Bytes
	return nil
}
