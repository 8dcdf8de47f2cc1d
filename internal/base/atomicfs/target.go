// Package atomicfs writes outputs so that what was there stays, whole, until the
// new is complete: a file, a folder with the one beside it, and the rules for
// where an output goes.
//
// It isn't for what is in them.
package atomicfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/fault"
)

// maxName is the longest name of an output, in bytes: file systems take 255
// (NAME_MAX), and what isn't finished yet has ".", ".winbake-" and ten digits
// around it.
const maxName = 255 - 20

// Target returns the absolute path that an output is written to. A link is
// followed, so that it stays one; a link to nothing is refused, since what it
// is for can't be told. So is a name that is too long.
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
	if n := len(filepath.Base(target)); n > maxName {
		return "", &fault.Error{Where: path, What: fmt.Sprintf("its name has %d bytes, and %d are possible", n, maxName), Fix: "give a shorter name"}
	}
	return target, nil
}
