package atomicfs

import (
	"errors"
	"os"
)

// replaceDirInSteps is for systems that can't exchange two folders at once. A
// kill between its steps leaves dir missing and both payloads beside it.
func replaceDirInSteps(temp, dir string) error {
	old := temp + "-old"
	if err := os.Rename(dir, old); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}
