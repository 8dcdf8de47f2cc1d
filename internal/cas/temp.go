package cas

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// createTemp makes a locked file in tmp. It's made and locked as one step for
// the collector, which would take it for a dead one's otherwise.
func (s *Store) createTemp(pattern string) (*os.File, error) {
	unlock, err := s.share()
	if err != nil {
		return nil, err
	}
	defer unlock()
	f, err := os.CreateTemp(s.temp(), pattern)
	if err != nil {
		return nil, s.explain("make a temporary file", err)
	}
	if err := flock(f, lockExclusive); err != nil {
		return nil, errors.Join(s.explain("lock a temporary file", err), s.discard(f))
	}
	return f, nil
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
