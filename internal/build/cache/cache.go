// Package cache keeps what was built, and small JSON records of what made it, in
// one folder of one user that any number of processes may use:
//
//	artifacts/  a store of the go command's format: content by its sha256
//	tmp/        what isn't finished, locked by its writer
//	git/        clones, see gitsrc
//
// Everything that is read is hashed, so that what a kill or the disk damaged is
// made again and never served. What wasn't used for 5 days goes. Two processes
// that need the same thing at once may make it twice.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/cache"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/fault"
)

// Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest = string

// Store is a cache folder. Its methods may be called from many goroutines.
type Store struct {
	dir        string
	unfinished string // what the folders in tmp are named after
	artifacts  *cache.Cache
}

// Open returns the cache in dir, which Prepare makes if need be. One that is there
// but can't be written to still opens: reading from it is fine.
func Open(dir string) (*Store, error) {
	if err := Prepare(dir); err != nil {
		return nil, err
	}
	artifacts, temp := filepath.Join(dir, "artifacts"), filepath.Join(dir, "tmp")
	if err := errors.Join(os.MkdirAll(artifacts, 0o700), os.MkdirAll(temp, 0o700)); err != nil {
		return nil, explain(dir, err)
	}
	store, err := cache.Open(artifacts)
	return &Store{dir, filepath.Join(temp, "work"), store}, explain(dir, err)
}

// Trim removes what wasn't used for 5 days, once a day, and what killed processes
// left. What can't be removed waits for another run.
func (s *Store) Trim() {
	_ = s.artifacts.Trim()
	_ = atomicfs.RemoveLeftovers(s.unfinished)
}

// TempDir makes a folder on the cache's file system, for one build say. It stays
// until remove is called or the process ends.
func (s *Store) TempDir() (dir string, remove func() error, err error) {
	dir, remove, err = atomicfs.TempDir(s.unfinished)
	return dir, remove, explain(s.dir, err)
}

// PutAction keeps v, which must encode to JSON, under a key, instead of what was
// there.
func (s *Store) PutAction(key Digest, v any) error {
	id, err := parse(key)
	if err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record action %s: %w", key, err)
	}
	return explain(s.dir, s.artifacts.PutBytes(id, data))
}

// GetAction decodes into v, a pointer, what PutAction kept under key. It returns
// false when there is nothing that can be trusted and fits v.
func (s *Store) GetAction(key Digest, v any) bool {
	id, err := parse(key)
	if err != nil {
		return false
	}
	data, _, err := s.artifacts.GetBytes(id)
	return err == nil && json.Unmarshal(data, v) == nil
}

// parse returns the sum in d. Nothing else may become part of a path.
func parse(d Digest) (sum [sha256.Size]byte, err error) {
	text, ok := strings.CutPrefix(d, "sha256:")
	if b, err := hex.DecodeString(text); ok && err == nil && len(b) == len(sum) && strings.ToLower(text) == text {
		return [sha256.Size]byte(b), nil
	}
	return sum, fmt.Errorf("not a sha256 digest: %q", d)
}

// explain makes a fault of an error in writing.
func explain(dir string, err error) error {
	if err == nil {
		return nil
	}
	fix := "pass --cache-dir with a folder that you may write to"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		fix = "make room, or pass --cache-dir with a folder on a larger disk"
	}
	return &fault.Error{What: "the cache can't be written to: " + err.Error(), Where: dir, Fix: fix, Err: err}
}
