package cas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// GCOptions bound what a store keeps. Zero means no bound: then only what no
// record speaks of goes.
type GCOptions struct {
	// MaxAge is how long an action may go unused.
	MaxAge time.Duration
	// MaxBytes is what actions and their blobs may take up together; the
	// least recently used go first.
	MaxBytes int64
}

// Freed is what GC removed.
type Freed struct {
	Blobs   Tally `json:"blobs"`
	Actions Tally `json:"actions"`
	Temp    Tally `json:"temp"`
}

// Bytes returns the sum of everything.
func (f *Freed) Bytes() int64 { return f.Blobs.Bytes + f.Actions.Bytes + f.Temp.Bytes }

// GC removes what dead processes left in tmp, actions beyond the options'
// bounds, damaged records, and blobs that no remaining action refers to.
// Others may go on using the store: whatever was written or looked up within
// the last two hours stays, whatever the bounds. Folders that aren't the
// store's own stay too. When ctx is done it stops between two files.
func (s *Store) GC(ctx context.Context, opts GCOptions) (Freed, error) {
	c := &collector{Store: s, ctx: ctx, opts: opts, live: map[Digest]bool{}}
	for _, step := range []func() error{c.sweepTemp, c.sweepActions, c.sweepBlobs} {
		if err := step(); err != nil {
			return c.freed, s.explain("collect the cache's garbage", err)
		}
	}
	return c.freed, nil
}

// Sweep removes what dead processes left in tmp. GC does that and more; this is
// quick enough for each run. What can't be removed waits for another one.
func (s *Store) Sweep(ctx context.Context) {
	c := &collector{Store: s, ctx: ctx}
	_ = c.sweepTemp()
}

type collector struct {
	*Store
	ctx   context.Context
	opts  GCOptions
	live  map[Digest]bool // blobs of the actions that stay
	freed Freed
}

type action struct {
	key  Digest
	path string
	info fs.FileInfo
	refs []Digest
}

// sweepActions keeps the most recently used actions that fit.
func (c *collector) sweepActions() error {
	actions, err := c.list()
	if err != nil {
		return err
	}
	var total int64
	for _, a := range actions {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		total += a.info.Size() + c.newBytes(a.refs)
		age := time.Since(lastUse(a.info))
		old := c.opts.MaxAge > 0 && age > c.opts.MaxAge
		big := c.opts.MaxBytes > 0 && total > c.opts.MaxBytes
		if old || big {
			gone, err := c.removeIdle(a.path, &c.freed.Actions)
			if err != nil {
				return err
			}
			if gone {
				continue
			}
		}
		for _, d := range a.refs {
			c.live[d] = true
		}
	}
	return nil
}

// newBytes returns the size of those refs that no kept action has yet.
func (c *collector) newBytes(refs []Digest) int64 {
	var n int64
	for _, d := range refs {
		if info, err := os.Stat(c.Path(d)); err == nil && !c.live[d] {
			n += info.Size()
		}
	}
	return n
}

// list returns all sound actions, most recently used first, and removes
// damaged ones.
func (c *collector) list() ([]action, error) {
	var actions []action
	err := c.walk(c.actions(), func(key Digest, path string) error {
		r, info, err := readRecord(key, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, ErrDamaged):
			c.drop(path, info)
			c.freed.Actions.add(info.Size())
			return nil
		case err != nil:
			return err
		}
		actions = append(actions, action{key, path, info, r.Refs})
		return nil
	})
	slices.SortFunc(actions, func(a, b action) int {
		return cmp.Or(lastUse(b.info).Compare(lastUse(a.info)), cmp.Compare(a.key, b.key))
	})
	return actions, err
}

func (c *collector) sweepBlobs() error {
	return c.walk(c.blobs(), func(d Digest, path string) error {
		if c.live[d] {
			return nil
		}
		gone, err := c.removeIdle(path, &c.freed.Blobs)
		if gone {
			c.dropCRC(path)
		}
		return err
	})
}

// removeIdle removes a file that nobody used of late. Nobody can begin to use
// it between the look at its time and its removal.
func (c *collector) removeIdle(path string, freed *Tally) (gone bool, err error) {
	unlock, err := c.exclude()
	if err != nil {
		return false, err
	}
	defer unlock()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || time.Since(lastUse(info)) < grace {
		return false, err
	}
	if err := os.Remove(path); err != nil {
		return false, err
	}
	freed.add(info.Size())
	return true, nil
}

func (c *collector) walk(root string, visit func(d Digest, path string) error) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case c.ctx.Err() != nil:
			return context.Cause(c.ctx)
		case err != nil:
			return fmt.Errorf("read the store: %w", err)
		case e.IsDir() || !isSum(e.Name()):
			return nil
		}
		return visit(digestPrefix+e.Name(), path)
	})
}

// Tally counts files.
type Tally struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"` // the files' lengths, not the disk's blocks
}

func (t *Tally) add(bytes int64) {
	t.Count++
	t.Bytes += bytes
}

// Folder is a folder of the cache that belongs to somebody else, such as the
// git clones of sources. GC doesn't touch it.
type Folder struct {
	Name string `json:"name"`
	Tally
}

// Usage is what a store takes up.
type Usage struct {
	Dir     string   `json:"dir"`
	Blobs   Tally    `json:"blobs"`
	Actions Tally    `json:"actions"`
	Temp    Tally    `json:"temp"`
	Folders []Folder `json:"folders,omitempty"` // by name
}

// Bytes returns the sum of everything.
func (u *Usage) Bytes() int64 {
	total := u.Blobs.Bytes + u.Actions.Bytes + u.Temp.Bytes
	for _, f := range u.Folders {
		total += f.Bytes
	}
	return total
}

// Usage counts the store's files. Others may write meanwhile; then the figures
// are of no one moment.
func (s *Store) Usage() (Usage, error) {
	u := Usage{Dir: s.dir}
	entries, err := os.ReadDir(s.dir) // sorted
	if err != nil {
		return u, fmt.Errorf("read the cache folder: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t, err := tally(filepath.Join(s.dir, e.Name()))
		if err != nil {
			return u, fmt.Errorf("count the cache's files: %w", err)
		}
		switch e.Name() {
		case blobsName:
			u.Blobs = t
		case actionsName:
			u.Actions = t
		case tempName:
			u.Temp = t
		case crcName:
			// 16 bytes a blob, for the store alone.
		default:
			u.Folders = append(u.Folders, Folder{e.Name(), t})
		}
	}
	return u, nil
}

// tally counts the files below dir, but for those that vanish meanwhile and
// those of another user's build.
func tally(dir string) (Tally, error) {
	var t Tally
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				t.add(info.Size())
			}
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	})
	return t, err
}
