package atomicfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
)

// tempPrefix is in the names of everything that isn't finished, behind the
// name that it will have. A killed run leaves such files and folders behind;
// the next one on the same target removes them.
const tempPrefix = ".winbake-"

// tempName is the beginning of the names of what will become name.
func tempName(name string) string { return "." + filepath.Base(name) + tempPrefix }

// IsTemp tells whether a base name may be one of tempName's.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, tempPrefix)
}

// onWindows: it renames no file or folder that is open here, locks no folder, and
// has no sticky bit.
const onWindows = runtime.GOOS == "windows"

// PutFile puts a file in place as a whole: anyone who opens name finds what was
// there before or what fill wrote, also after a crash. The mode of a file that is
// replaced stays.
func PutFile(name string, fill func(io.Writer) error) error {
	f, err := createTemp(name)
	if err != nil {
		return err
	}
	if err := finishFile(f, name, fill); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err := f.Close(); err != nil && !onWindows {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

// finishFile fills f and gives it its name, while its lock is held.
func finishFile(f *os.File, name string, fill func(io.Writer) error) error {
	if err := fill(f); err != nil {
		return err
	}
	if err := f.Chmod(modeOf(name)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if onWindows {
		_ = f.Close() // synced
	}
	return os.Rename(f.Name(), name)
}

func modeOf(name string) fs.FileMode {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return info.Mode().Perm()
	}
	return 0o644
}

// createTemp makes a locked file beside name: one without a lock is taken for
// what a killed run left. A file system that knows no locks never has any
// removed.
func createTemp(name string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(filepath.Dir(name), tempName(name))
		if err != nil {
			return nil, err
		}
		_ = lockFile(context.Background(), f) // held by others for a moment at most
		if _, err := os.Lstat(f.Name()); err == nil {
			return f, nil
		}
		_ = f.Close() // it is gone: another run saw it before it was locked
	}
}

// RemoveLeftovers removes what killed runs left beside target. What is being
// written is locked and stays.
func RemoveLeftovers(target string, ours func(os.DirEntry) bool) error {
	entries, err := os.ReadDir(filepath.Dir(target))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ours(e) && strings.HasPrefix(e.Name(), tempName(target)) {
			err = errors.Join(err, removeUnlocked(filepath.Join(filepath.Dir(target), e.Name())))
		}
	}
	return err
}

func removeUnlocked(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return nil // gone meanwhile
	}
	defer f.Close() // only opened to be locked
	if !tryLockFile(f) {
		return nil
	}
	return os.RemoveAll(name)
}

// WriteFile writes data in the place of a file, the old content or the new whenever
// the process is killed.
func WriteFile(name string, data []byte) error {
	return PutFile(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// LockDir waits until no other process or goroutine writes to dir, or until
// the context ends. unlock lets the next one in; so does the process's end. On
// Windows nothing is locked.
func LockDir(ctx context.Context, dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if onWindows {
		return func() error { return nil }, f.Close()
	}
	if err := lockFile(ctx, f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f.Close, nil
}

// MakeLocked is LockDir of a folder that it makes if need be, as made tells. Another
// run may take away a folder that it made, while this one waits for its lock.
func MakeLocked(ctx context.Context, dir string) (made bool, unlock func() error, err error) {
	for {
		_, serr := os.Stat(dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return false, nil, err
		}
		before, err := os.Stat(dir)
		if os.IsNotExist(err) {
			continue
		}
		if unlock, err = LockDir(ctx, dir); os.IsNotExist(err) {
			continue
		} else if err != nil {
			return false, nil, err
		}
		if now, err := os.Stat(dir); err == nil && os.SameFile(before, now) {
			return os.IsNotExist(serr), unlock, nil
		}
		_ = unlock()
	}
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
