package template

import (
	"errors"
	"os"
)

// replaceInSteps is for systems that can't exchange two folders at once. A
// kill between its steps leaves dir missing and both folders beside it.
func replaceInSteps(temp, dir string) error {
	old := temp + "-old"
	if err := os.Rename(dir, old); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}
