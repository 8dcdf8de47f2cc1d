package resolve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/pins"
)

// Write merges results into lock and writes it into file's lock folder.
// lock.yaml, which holds the sums of the other files, is written last: a killed
// run leaves a lock that doesn't match its sums and is refused, never one that
// seems right.
func Write(file *pins.File, lock *pins.Lock, results map[string]*Result) error {
	dir := file.LockDir()
	for name, r := range results {
		lock.Seal(name, r.Locked)
		if err := writeFiles(filepath.Join(dir, name), r); err != nil {
			return err
		}
	}
	if err := prune(file, lock); err != nil {
		return err
	}
	return lock.Write(dir)
}

func writeFiles(dir string, r *Result) error {
	if r.GoMod == nil {
		return os.RemoveAll(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the lock folder: %w", err)
	}
	for name, data := range map[string][]byte{"go.mod": r.GoMod, "go.sum": r.GoSum} {
		if err := atomicfs.WriteFile(filepath.Join(dir, name), data); err != nil {
			return fmt.Errorf("write the lock: %w", err)
		}
	}
	return nil
}

// prune drops the locks of components that versions.yaml no longer has.
func prune(file *pins.File, lock *pins.Lock) error {
	known := map[string]bool{}
	for _, c := range file.All() {
		known[c.Name] = true
	}
	for name := range lock.Components {
		if !known[name] {
			delete(lock.Components, name)
		}
	}
	entries, err := os.ReadDir(file.LockDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the lock folder: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !known[e.Name()] {
			if err := os.RemoveAll(filepath.Join(file.LockDir(), e.Name())); err != nil {
				return fmt.Errorf("drop a left-over lock: %w", err)
			}
		}
	}
	return nil
}
