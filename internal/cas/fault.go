package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/winbake/winbake/internal/fault"
)

// ErrDamaged is wrapped by the errors about a blob or record whose bytes
// aren't those that were stored. It has been removed: making it again is safe.
var ErrDamaged = errors.New("damaged in the store")

// explain turns what a person can mend into a fault: a full disk and a folder
// that can't be written to. doing says what failed, as a verb phrase.
func (s *Store) explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case isFull(err):
		return &fault.Error{
			What:  "no space left for the cache",
			Where: s.dir,
			Fix:   "bake cache gc, or pass --cache-dir with a folder on a larger disk",
			Err:   err,
		}
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return &fault.Error{
			What:  "the cache folder can't be made: a file is in its place",
			Where: s.dir,
			Fix:   "pass --cache-dir with another folder",
			Err:   err,
		}
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		return &fault.Error{
			What:  "the cache folder can't be written to",
			Where: s.dir,
			Fix:   "pass --cache-dir with a folder that you may write to",
			Err:   err,
		}
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

func damagedBlob(d Digest, path string) error {
	return &fault.Error{
		What:  "blob " + d + " was damaged on disk and has been removed",
		Where: path,
		Fix:   "run the command again: it makes the blob anew",
		Err:   ErrDamaged,
	}
}
