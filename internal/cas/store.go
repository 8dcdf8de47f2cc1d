// Package cas keeps blobs by their sha256 and small JSON records of what made
// them, in one folder that any number of processes share:
//
//	blobs/sha256/ab/<hex>  content, mode 0444 (0464 in a group's folder)
//	crc/<hex>              a blob's CRC-32C, a hint
//	actions/ab/<hex>       records, each under its own sum
//	tmp/                   what isn't finished, locked by whoever writes it
//	lock                   makes a collection and a commit take turns
//
// A blob or record is there whole or not at all: it's written to tmp, synced
// and renamed. A process that is killed leaves nothing but entries in tmp,
// which Sweep removes once their locks are free. What the disk damages is noticed
// on reading and removed, so that the next build makes it again.
//
// Users share a store in a folder that their group may write to: folders and
// the lock are made as the umask says, and files that such a folder holds can be
// marked as used by all of the group.
//
// It isn't a place for results: whatever is in it can be made again, and GC
// may take it away.
package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// touchEvery is how old a file's time of last use may get before it is
	// set anew: a lookup shouldn't cost a write each time.
	touchEvery = time.Hour
	// grace protects what may be in use. It's touchEvery longer than the hour
	// that a build gets to go from a lookup to the last read.
	grace = touchEvery + time.Hour
)

// dirMode is that of folders, before the umask.
const dirMode = 0o777

const (
	blobsName   = "blobs"
	actionsName = "actions"
	tempName    = "tmp"
	lockName    = "lock"
)

// Store is one store on disk. Its methods may be called from many goroutines,
// and other processes may use the same folder.
type Store struct {
	dir string
}

// Open returns the store in dir and makes its folders if they aren't there. A
// store that is there but can't be written to still opens: reading from it is
// fine.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the cache folder: %w", err)
	}
	s := &Store{dir: abs}
	for _, sub := range []string{s.blobs(), s.actions(), s.temp(), filepath.Join(s.dir, crcName)} {
		if err := os.MkdirAll(sub, dirMode); err != nil {
			return nil, s.explain("make the cache folder", err)
		}
	}
	// Makes the lock too, while there's room for it: a collector must be able
	// to start on a full disk.
	unlock, err := s.share()
	if err != nil {
		return nil, err
	}
	unlock()
	return s, nil
}

// Dir returns the store's folder, absolute.
func (s *Store) Dir() string { return s.dir }

// Path returns where the blob d is or would be; empty when d isn't a digest.
// The file mustn't be changed, and reading it there doesn't verify it.
func (s *Store) Path(d Digest) string {
	sum, err := parse(d)
	if err != nil {
		return ""
	}
	return filepath.Join(s.blobs(), sum[:2], sum)
}

// Stat returns the blob's size in bytes, or an error that wraps
// fs.ErrNotExist. It doesn't read the blob, but it counts as a use: GC leaves
// the blob alone for an hour at least.
func (s *Store) Stat(d Digest) (int64, error) {
	if _, err := parse(d); err != nil {
		return 0, err
	}
	unlock, err := s.share()
	if err != nil {
		return 0, err
	}
	defer unlock()
	info, err := os.Stat(s.Path(d))
	if err != nil {
		return 0, fmt.Errorf("look for blob %s: %w", d, err)
	}
	touch(s.Path(d), info)
	return info.Size(), nil
}

func (s *Store) blobs() string   { return filepath.Join(s.dir, blobsName, "sha256") }
func (s *Store) actions() string { return filepath.Join(s.dir, actionsName) }
func (s *Store) temp() string    { return filepath.Join(s.dir, tempName) }

// touch notes a use in the file's modification time. In a store that can't be
// written to nothing is collected either, so that a failure doesn't matter.
func touch(path string, info fs.FileInfo) {
	if time.Since(info.ModTime()).Abs() > touchEvery {
		setUsed(path)
	}
}

// lastUse is when a file was last used. A clock was wrong for one of the future,
// which would never grow old: it counts as the oldest.
func lastUse(info fs.FileInfo) time.Time {
	if t := info.ModTime(); time.Until(t) < grace {
		return t
	}
	return time.Time{}
}

// Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest = string

const digestPrefix = "sha256:"

// parse returns the digits of d. Nothing else may become part of a path.
func parse(d Digest) (string, error) {
	sum, ok := strings.CutPrefix(d, digestPrefix)
	if !ok || !isSum(sum) {
		return "", fmt.Errorf("not a sha256 digest: %q", d)
	}
	return sum, nil
}

func isSum(s string) bool {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
