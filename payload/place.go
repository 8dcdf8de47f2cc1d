package payload

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/fault"
)

// CheckPlace tells whether something can be written to path, before there is
// anything to write: a KindDir, a KindLayout, or a tarball for any other kind. It
// changes nothing. What WriteDir, WriteLayout and WriteTarball refuse, it refuses.
func CheckPlace(kind Kind, path string) error {
	target, err := atomicfs.Target(path)
	if err != nil {
		return err
	}
	below := filepath.Dir(target) // what is made anew there
	switch kind {                 //nolint:exhaustive // the others are all tarballs
	case KindDir:
		err = checkReplaceable(target)
	case KindLayout:
		if _, serr := os.Stat(target); serr == nil {
			below, err = target, checkLayoutDir(target)
		}
	default:
		err = checkRegular(target)
	}
	if err == nil {
		err = checkWritable(target, below)
	}
	return err
}

// checkWritable asks the system about the folder that is there of dir's parents.
func checkWritable(target, dir string) error {
	info, err := os.Stat(dir)
	for ; os.IsNotExist(err) && dir != filepath.Dir(dir); info, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	if err == nil && !info.IsDir() {
		return &fault.Error{What: dir + " isn't a folder", Where: target, Fix: "give another place"}
	}
	if err == nil {
		err = mayWrite(dir)
	}
	if err != nil {
		return cantWrite(target, &fs.PathError{Op: "write", Path: target, Err: err})
	}
	return nil
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
