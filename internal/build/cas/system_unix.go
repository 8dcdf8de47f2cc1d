//go:build unix

package cas

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	lockShared    = unix.LOCK_SH
	lockExclusive = unix.LOCK_EX
	lockNow       = unix.LOCK_NB // or not at all
)

// storedMode is that of blobs and records: they are never written to again.
const storedMode fs.FileMode = 0o444

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

func isLocked(err error) bool   { return errors.Is(err, unix.EWOULDBLOCK) }
func cantLock(err error) bool   { return errors.Is(err, unix.EBADF) }
func isFull(err error) bool     { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// setUsed sets a file's times to the present, which is all that others than the
// owner may set.
func setUsed(path string) { _ = unix.UtimesNanoAt(unix.AT_FDCWD, path, nil, 0) }

// rename puts a file in the place of another, which may be open.
func rename(from, to string) error { return os.Rename(from, to) }
