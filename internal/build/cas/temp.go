package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A temporary folder is tmp/<name>/ with its lock and, below workName, what
// the caller sees. Folders themselves can't be locked on NFS.
const (
	tempLockName = "lock"
	workName     = "work"
)

// TempDir makes a folder on the store's file system, for one build say. GC
// leaves it alone until cleanup is called or the process ends. pattern is as
// for os.MkdirTemp.
func (s *Store) TempDir(pattern string) (dir string, cleanup func(), err error) {
	unlock, err := s.share()
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	outer, err := os.MkdirTemp(s.temp(), pattern)
	if err != nil {
		return "", nil, s.explain("make a temporary folder", err)
	}
	lock, err := lockNew(filepath.Join(outer, tempLockName))
	if err == nil {
		if err = os.Mkdir(filepath.Join(outer, workName), 0o700); err == nil {
			return filepath.Join(outer, workName), func() { lock.Close(); _ = removeAll(outer) }, nil // Windows removes no open file
		}
		lock.Close()
	}
	_ = removeAll(outer)
	return "", nil, s.explain("make a temporary folder", err)
}

func lockNew(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, lockExclusive); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeAll removes read-only folders too: Go's module cache is made of them.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err == nil {
			// WalkDir reads the folder only after this call.
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

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
