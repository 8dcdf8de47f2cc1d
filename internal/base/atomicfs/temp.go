package atomicfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tempName is the beginning of the names of folders in which name is made. Their
// writers hold a lock on them: what a killed run left has none, and the next run
// on the same target removes it. Where there are no locks, nothing is removed.
func tempName(name string) string { return "." + filepath.Base(name) + tempPrefix }

const tempPrefix = ".winbake-"

// IsTemp tells whether a base name may be one of tempName's.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, tempPrefix)
}

// TempDir makes a locked folder beside target, for what will be renamed to target.
// remove removes it with what is left in it.
func TempDir(target string) (dir string, remove func() error, err error) {
	for {
		if dir, err = os.MkdirTemp(filepath.Dir(target), tempName(target)); err != nil {
			return "", nil, err
		}
		unlock, err := LockDir(context.Background(), dir)
		if !errors.Is(err, fs.ErrNotExist) { // another run saw it before it was locked
			return dir, func() error { return errors.Join(os.RemoveAll(dir), unlock()) }, err
		}
	}
}

// RemoveLeftovers removes what killed runs left beside target.
func RemoveLeftovers(target string) error {
	entries, err := os.ReadDir(filepath.Dir(target))
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempName(target)) {
			continue
		}
		name := filepath.Join(filepath.Dir(target), e.Name())
		if unlock, lockErr := LockDir(atOnce, name); lockErr == nil {
			err = errors.Join(err, os.RemoveAll(name), unlock())
		}
	}
	return err
}

// MakeLocked is LockDir of a folder that it makes if need be, as made tells. Another
// run may remove a folder that it made, while this one waits for its lock.
func MakeLocked(ctx context.Context, dir string) (made bool, unlock func() error, err error) {
	for {
		_, err := os.Stat(dir)
		made = errors.Is(err, fs.ErrNotExist)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return false, nil, err
		}
		if unlock, err = LockDir(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
			return made, unlock, err
		}
	}
}
