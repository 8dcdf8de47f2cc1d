package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// tempPrefix begins the names of everything that isn't finished. A killed run
// leaves such files behind; the next one removes them.
const tempPrefix = ".winbake-"

// putFile puts a file in place as a whole: whoever opens name finds what was
// there before or what fill wrote, also after a crash.
func putFile(name string, fill func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	if err := f.Chmod(fileMode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

func putBytes(name string, data []byte) error {
	return putFile(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// lockDir waits until no other process or goroutine writes to dir, or until
// the context ends. unlock lets the next one in; so does the process's end.
func lockDir(ctx context.Context, dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := lockFile(ctx, f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f.Close, nil
}
