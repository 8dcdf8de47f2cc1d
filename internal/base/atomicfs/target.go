package atomicfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
)

// Target returns the absolute path that an output is written to. A link is
// followed, so that it stays one; a link to nothing is refused, since what it
// is for can't be told.
func Target(path string) (string, error) {
	target, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	if info, err := os.Lstat(target); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err = filepath.EvalSymlinks(target); err != nil {
			return "", &fault.Error{Where: path, What: "it is a link that leads nowhere: " + err.Error(), Fix: "name what is to be written instead of the link", Err: err}
		}
	}
	return target, nil
}

// CheckWritable asks the system about the folder that is there of dir's parents.
func CheckWritable(target, dir string) error {
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
		return CantWrite(target, &fs.PathError{Op: "write", Path: target, Err: err})
	}
	return nil
}

// CantWrite is the fault of a place that refuses to be written to; errors of
// what was to be written pass through.
func CantWrite(place string, err error) error {
	pe, ok := errors.AsType[*fs.PathError](err)
	if _, told := errors.AsType[*fault.Error](err); told {
		return err
	}
	if !ok || !strings.HasPrefix(pe.Path, filepath.Dir(place)) {
		return err
	}
	return &fault.Error{
		What: "can't be written: " + pe.Err.Error(), Where: place, Err: err,
		Fix: "make room there or write elsewhere; df -h and ls -ld tell what is wrong",
	}
}

// ErrForeign is wrapped by the errors about a folder that isn't replaced: what
// is in it wasn't written by this package.
var ErrForeign = errors.New("not written here")

// Foreign is the fault of such a folder. what says how it can be told.
func Foreign(dir, what string) error {
	return &fault.Error{What: "the folder isn't empty and " + what, Where: dir, Fix: "give another folder", Err: ErrForeign}
}
