//go:build !windows

package agent

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes a lock that ends with the process. Agents run on Windows; the
// tests of a change run elsewhere too.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func inUse(err error) bool { return errors.Is(err, syscall.ETXTBSY) || errors.Is(err, syscall.EBUSY) }
