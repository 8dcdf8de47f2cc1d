package cas

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile marks f as being worked on. The kernel lets go of the lock when
// the process ends, however it ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// abandoned reports whether nobody works on path any more.
func abandoned(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return lockFile(f) == nil
}
