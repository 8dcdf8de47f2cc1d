// Package file reads local files that are pinned by sha256.
package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/winbake/winbake/internal/fault"
)

// Sum returns the sha256 of a file, in hex.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &fault.Error{Where: path, What: "no such file", Fix: "a component's file is relative to versions.yaml; check its path", Err: err}
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Check compares a file with its pinned sha256, in hex.
func Check(component, path, want string) error {
	got, err := Sum(path)
	if err != nil {
		return err
	}
	if got != want {
		return &fault.Error{Where: path, What: fmt.Sprintf("the file's sha256 is %s, component %s pins %s", got, component, want),
			Fix: fmt.Sprintf("take the file back, or pin what it is now: bake pin %s@%s", component, got)}
	}
	return nil
}
