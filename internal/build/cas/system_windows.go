package cas

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const (
	lockShared    = 0
	lockExclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	lockNow       = windows.LOCKFILE_FAIL_IMMEDIATELY // or not at all
)

// storedMode is that of blobs and records. A read-only file can't be replaced:
// https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-movefileexw
const storedMode fs.FileMode = 0o666

// flock locks an open file; closing it, or the process's end however sudden,
// unlocks it. Nobody else may write to a locked range, hence one that no file has.
func flock(f *os.File, how int) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), uint32(how), 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

func isLocked(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }
func cantLock(error) bool     { return false }
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func setUsed(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// rename puts a file in the place of another. One that is open can't be replaced,
// and needn't be: its name is the digest of what it holds, or of what made it.
func rename(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		if _, there := os.Stat(to); there == nil {
			return nil
		}
	}
	return err
}
