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

// Part is what one of the store's folders holds.
type Part struct {
	Name  string `json:"name"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// Usage counts every folder of the store, by name.
func (s *Store) Usage() ([]Part, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, s.explain("read the cache", err)
	}
	var parts []Part
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		p := Part{Name: e.Name()}
		err := walkFiles(filepath.Join(s.dir, e.Name()), func(_ string, info fs.FileInfo) {
			p.Files++
			p.Bytes += info.Size()
		})
		if err != nil {
			return nil, s.explain("read the cache", err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// walkFiles visits the regular files below dir. Files that vanish meanwhile
// are another process's business.
func walkFiles(dir string, visit func(path string, info fs.FileInfo)) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			visit(path, info)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("walk %s: %w", dir, err)
	}
	return nil
}

// GCOptions say what may go. Zero values keep everything that is referenced.
type GCOptions struct {
	MaxAge   time.Duration // records not used for longer go
	MaxBytes int64         // the least recently used go until blobs fit
}

// youngBlob is the age below which a blob without a record is kept: another
// process may be about to write the record.
const youngBlob = time.Hour

// GC removes abandoned work, records by the options, and blobs that no record
// refers to. It returns how many bytes were freed.
func (s *Store) GC(ctx context.Context, o GCOptions) (int64, error) {
	freed, err := s.sweepTemp()
	if err != nil {
		return freed, err
	}
	records, err := s.records()
	if err != nil {
		return freed, err
	}
	live := map[string]bool{}
	var bytes int64
	for _, r := range records { // newest first
		if ctx.Err() != nil {
			return freed, context.Cause(ctx)
		}
		size := s.sizeOf(r.refs, live)
		old := o.MaxAge > 0 && time.Since(r.used) > o.MaxAge
		large := o.MaxBytes > 0 && bytes+size > o.MaxBytes
		if old || large {
			if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return freed, s.explain("remove a cache record", err)
			}
			continue
		}
		bytes += size
		for _, d := range r.refs {
			live[s.Path(d)] = true
		}
	}
	n, err := s.sweepBlobs(live)
	return freed + n, err
}

type recordFile struct {
	path string
	used time.Time
	refs []Digest
}

// records lists the readable records, the last used first.
func (s *Store) records() ([]recordFile, error) {
	var rs []recordFile
	err := walkFiles(filepath.Join(s.dir, "actions"), func(path string, info fs.FileInfo) {
		data, err := os.ReadFile(path)
		if err != nil {
			return
		}
		a, err := parseAction(data)
		if err != nil {
			_ = os.Remove(path) // it would be removed when read, too
			return
		}
		rs = append(rs, recordFile{path, info.ModTime(), a.Refs})
	})
	slices.SortFunc(rs, func(a, b recordFile) int {
		return cmp.Or(b.used.Compare(a.used), cmp.Compare(a.path, b.path))
	})
	return rs, err
}

func (s *Store) sizeOf(refs []Digest, live map[string]bool) int64 {
	var n int64
	for _, d := range refs {
		if size, err := s.Stat(d); err == nil && !live[s.Path(d)] {
			n += size
		}
	}
	return n
}

func (s *Store) sweepBlobs(live map[string]bool) (int64, error) {
	var freed int64
	var first error
	err := walkFiles(filepath.Join(s.dir, "blobs"), func(path string, info fs.FileInfo) {
		if live[path] || time.Since(info.ModTime()) < youngBlob {
			return
		}
		if err := os.Remove(path); err != nil {
			first = cmp.Or(first, err)
			return
		}
		freed += info.Size()
	})
	return freed, errors.Join(err, first)
}

// sweepTemp removes work whose process is gone.
func (s *Store) sweepTemp() (int64, error) {
	tmp := filepath.Join(s.dir, "tmp")
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return 0, s.explain("read the cache", err)
	}
	var freed int64
	for _, e := range entries {
		path := filepath.Join(tmp, e.Name())
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < time.Minute || !abandoned(path) {
			continue
		}
		_ = walkFiles(path, func(_ string, info fs.FileInfo) { freed += info.Size() })
		if err := removeAll(path); err != nil {
			return freed, s.explain("remove abandoned work", err)
		}
	}
	return freed, nil
}

// removeAll also removes folders without write permission, such as a module
// cache's.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
