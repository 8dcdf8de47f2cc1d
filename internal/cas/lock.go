package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// share lets the caller commit or look up while no collector is between its
// last look at a file and the file's removal. Hold it for a few system calls
// only, and never take it twice.
func (s *Store) share() (unlock func(), err error) { return s.lock(unix.LOCK_SH) }

// exclude is the collector's side of share.
func (s *Store) exclude() (unlock func(), err error) { return s.lock(unix.LOCK_EX) }

func (s *Store) lock(how int) (func(), error) {
	path := filepath.Join(s.dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path) // somebody else's, which local disks lock all the same
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EROFS) {
		// Where this file can't be opened nothing can be removed either.
		return func() {}, nil
	}
	if err != nil {
		return nil, s.explain("open the cache's lock", err)
	}
	if err := flock(f, how); err != nil {
		f.Close()
		if errors.Is(err, unix.EBADF) { // NFS, which locks only what may be written to
			return func() {}, nil
		}
		return nil, fmt.Errorf("lock the cache folder %s: %w", s.dir, err)
	}
	return func() { f.Close() }, nil
}

// flock locks an open file; closing it, or the process's end however sudden,
// unlocks it.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
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
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EBADF) {
		return nil, nil
	}
	return nil, err
}
