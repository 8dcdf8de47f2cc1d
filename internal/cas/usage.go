package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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
