package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/fault"
)

// tagName marks a folder that holds a cache and nothing else
// (https://bford.info/cachedir); backups pass it over.
const tagName = "CACHEDIR.TAG"

const tag = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by bake, which makes again what is missing here.\n"

// Prepare makes the cache folder dir if need be. A cache is one user's: one that
// others may write to, or that belongs to somebody else, is refused, since what is
// in it decides what runs here.
func Prepare(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return explain(dir, err)
		}
		if err := os.WriteFile(filepath.Join(dir, tagName), []byte(tag), 0o644); err != nil {
			return explain(dir, err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return explain(dir, err)
	}
	if what := sharedWith(info); what != "" {
		return &fault.Error{What: "the cache folder " + what, Where: dir, Fix: "pass --cache-dir with a folder that is yours alone (chmod go-w)"}
	}
	return nil
}

// Clean empties the cache folder dir, while nothing uses it. A folder that Prepare
// didn't make isn't touched.
func Clean(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := Prepare(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, tagName)); err != nil {
		return &fault.Error{What: "the folder isn't emptied: it has no " + tagName + ", so that bake may not have made it", Where: dir, Fix: "look what is in it", Err: err}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != tagName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return explain(dir, err)
}
