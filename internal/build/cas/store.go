// Package cas keeps blobs by their sha256 and small JSON records of what made
// them, in one folder that any number of processes share:
//
//	blobs/sha256/ab/<hex>  content, mode 0444 (0464 in a group's folder)
//	crc/<hex>              a blob's CRC-32C, a hint
//	actions/ab/<hex>       records, each under its own sum
//	tmp/                   what isn't finished, locked by its writer
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
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
)

const (
	// touchEvery is how old a file's time of last use may get before it is
	// set again: a lookup shouldn't cost a write each time.
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

// record is an action's file: a line with the sha256 of all that follows, and
// JSON. The sum stands outside the JSON so that every single byte counts.
type record struct {
	// Key is the action. A file under another action's name is refused.
	Key   Digest          `json:"key"`
	Refs  []Digest        `json:"refs,omitempty"`
	Value json.RawMessage `json:"value"`
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
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}

// ErrDamaged is wrapped by the errors about a blob or record whose bytes
// aren't those that were stored. It has been removed: making it again is safe.
var ErrDamaged = errors.New("damaged in the store")

// explain turns what a person can fix into a fault: a full disk and a folder
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
		Fix:   "run the command again: it makes the blob again",
		Err:   ErrDamaged,
	}
}

// share lets the caller commit or look up while no collector is between its
// last look at a file and the file's removal. Hold it for a few system calls
// only, and never take it twice.
func (s *Store) share() (unlock func(), err error) { return s.lock(lockShared) }

// exclude is the collector's side of share.
func (s *Store) exclude() (unlock func(), err error) { return s.lock(lockExclusive) }

func (s *Store) lock(how int) (func(), error) {
	path := filepath.Join(s.dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path) // somebody else's, which local disks lock all the same
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || isReadOnly(err) {
		// Where this file can't be opened nothing can be removed either.
		return func() {}, nil
	}
	if err != nil {
		return nil, s.explain("open the cache's lock", err)
	}
	if err := flock(f, how); err != nil {
		f.Close()
		if cantLock(err) { // NFS, which locks only what may be written to
			return func() {}, nil
		}
		return nil, fmt.Errorf("lock the cache folder %s: %w", s.dir, err)
	}
	return func() { f.Close() }, nil
}

// tryLock opens and locks the file at path, or returns nil if someone has it
// locked.
func tryLock(path string) (*os.File, error) {
	// NFS locks only what is open for writing. A blob whose writer was killed
	// right before the rename is read-only already.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	err = flock(f, lockExclusive|lockNow)
	if err == nil {
		return f, nil
	}
	f.Close()
	if isLocked(err) || cantLock(err) {
		return nil, nil
	}
	return nil, err
}

// readRecord returns the record and the file that it came from. It returns the
// latter together with ErrDamaged too.
func readRecord(key Digest, path string) (*record, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := parseRecord(key, data)
	return r, info, err
}

func parseRecord(key Digest, data []byte) (*record, error) {
	sum, body, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(sum) != sumOf(body) {
		return nil, fmt.Errorf("%w: its sum is not that of its bytes", ErrDamaged)
	}
	r := new(record)
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.Key != key {
		return nil, fmt.Errorf("%w: it is the record of %q", ErrDamaged, r.Key)
	}
	for _, d := range r.Refs {
		if _, err := parse(d); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return r, nil
}

func sumOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// createTemp makes a locked file in tmp. It's made and locked as one step for
// the collector, which would take it for a dead one's otherwise.
func (s *Store) createTemp(pattern string) (*os.File, error) {
	unlock, err := s.share()
	if err != nil {
		return nil, err
	}
	defer unlock()
	f, err := os.CreateTemp(s.temp(), pattern)
	if err != nil {
		return nil, s.explain("make a temporary file", err)
	}
	if err := flock(f, lockExclusive); err != nil {
		return nil, errors.Join(s.explain("lock a temporary file", err), s.discard(f))
	}
	return f, nil
}
