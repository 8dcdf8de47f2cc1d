package ociimage

import (
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/fault"
)

// CheckPlace tells whether something can be written to path, before there is
// anything to write: a KindLayout, or a tarball for any other kind. It changes
// nothing. What WriteLayout and WriteTarball refuse, it refuses.
func CheckPlace(kind Kind, path string) error {
	target, err := atomicfs.Target(path)
	if err != nil {
		return err
	}
	below := filepath.Dir(target) // what is made anew there
	if kind != KindLayout {
		err = checkRegular(target)
	} else if _, serr := os.Stat(target); serr == nil {
		below, err = target, checkLayoutDir(target)
	}
	if err == nil {
		err = atomicfs.CheckWritable(target, below)
	}
	return err
}

// checkRegular refuses what a renamed file would take away: a pipe, a device, a
// folder.
func checkRegular(file string) error {
	info, err := os.Lstat(file)
	if err != nil || info.Mode().IsRegular() {
		return nil //nolint:nilerr // it is made, and then tells what is wrong
	}
	return &fault.Error{What: "it is there and isn't a regular file: " + info.Mode().String(), Where: file, Fix: "name another file, or one that is still to be"}
}
