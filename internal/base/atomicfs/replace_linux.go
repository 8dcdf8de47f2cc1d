package atomicfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ReplaceDir puts temp in the place of dir in one step. What was there is at
// temp afterwards.
func ReplaceDir(temp, dir string) error {
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, dir, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOENT): // nothing to exchange with
		return os.Rename(temp, dir)
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS): // a file system without exchange
		return replaceDirInSteps(temp, dir)
	}
	return &os.LinkError{Op: "exchange", Old: temp, New: dir, Err: err}
}
