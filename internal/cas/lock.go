package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// share lets the caller commit or look up while no collector is between its
// last look at a file and the file's removal. Hold it for a few system calls
// only, and never take it twice.
func (s *Store) share() (unlock func(), err error) { return s.lock(lockShared) }

// exclude is the collector's side of share.
func (s *Store) exclude() (unlock func(), err error) { return s.lock(lockExclusive) }

func (s *Store) lock(how int) (func(), error) {
	path := filepath.Join(s.dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path) // somebody else's, which local disks lock all the same
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || isReadOnly(err) {
		// Where this file can't be opened nothing can be removed either.
		return func() {}, nil
	}
	if err != nil {
		return nil, s.explain("open the cache's lock", err)
	}
	if err := flock(f, how); err != nil {
		f.Close()
		if cantLock(err) { // NFS, which locks only what may be written to
			return func() {}, nil
		}
		return nil, fmt.Errorf("lock the cache folder %s: %w", s.dir, err)
	}
	return func() { f.Close() }, nil
}

// tryLock opens and locks the file at path, or returns nil if someone has it
// locked.
func tryLock(path string) (*os.File, error) {
	// NFS locks only what is open for writing. A blob whose writer was killed
	// right before the rename is read-only already.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	err = flock(f, lockExclusive|lockNow)
	if err == nil {
		return f, nil
	}
	f.Close()
	if isLocked(err) || cantLock(err) {
		return nil, nil
	}
	return nil, err
}
