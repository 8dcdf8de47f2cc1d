// Package cas is a content-addressed store on disk: blobs by their sha256,
// and small records of which action made which blob.
//
// Several processes may use one store, and any of them may be killed at any
// point. Nothing read from it is trusted: what doesn't have its digest is
// removed and reported as damaged. It knows nothing of what it keeps.
package cas

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/winbake/winbake/internal/fault"
)

// Digest is "sha256:<64 hex digits>".
type Digest = string

// ErrDamaged says that what the store holds doesn't have its digest. The
// entry is gone by then, so the next attempt makes it anew.
var ErrDamaged = errors.New("a cache entry was damaged and has been removed")

// Store is a folder. Its methods may be called at once.
type Store struct{ dir string }

// Open makes the folder if needed.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	for _, sub := range []string{"blobs", "actions", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, s.explain("make the cache folder", err)
		}
	}
	return s, nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// explain turns what a disk refuses into what a person can do about it.
func (s *Store) explain(doing string, err error) error {
	f := &fault.Error{Where: s.dir, Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		f.What, f.Fix = "the disk that holds the cache is full", "make room (bake cache gc), or use another disk: --cache-dir DIR"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		f.What, f.Fix = "the cache can't be written", "use a folder that you may write: --cache-dir DIR"
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return f
}

// Path returns where the blob lies, or would lie.
func (s *Store) Path(d Digest) string { return s.place("blobs", d) }

func (s *Store) place(kind string, d Digest) string {
	hexa := strings.TrimPrefix(d, "sha256:")
	if len(hexa) != 64 || strings.ContainsAny(hexa, "/\\.") {
		hexa = strings.Repeat("0", 64) // no such entry, and no way out of the store
	}
	return filepath.Join(s.dir, kind, hexa[:2], hexa)
}

// Stat returns the blob's size in bytes; fs.ErrNotExist if it isn't there.
func (s *Store) Stat(d Digest) (int64, error) {
	info, err := os.Stat(s.Path(d))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Put stores what r holds.
func (s *Store) Put(ctx context.Context, r io.Reader) (Digest, int64, error) {
	w, err := s.Create()
	if err != nil {
		return "", 0, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, &contextReader{ctx, r}); err != nil {
		return "", 0, err
	}
	return w.Commit()
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// Writer takes one blob's bytes and hashes them on their way to disk.
type Writer struct {
	store *Store
	file  *os.File
	buf   *bufio.Writer
	hash  hash.Hash
	size  int64
}

// Create starts a blob. Until Commit it is a locked temporary file.
func (s *Store) Create() (*Writer, error) {
	f, err := os.CreateTemp(filepath.Join(s.dir, "tmp"), "blob-")
	if err != nil {
		return nil, s.explain("start a blob", err)
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, s.explain("lock a blob", err)
	}
	return &Writer{store: s, file: f, buf: bufio.NewWriterSize(f, 1<<18), hash: sha256.New()}, nil
}

// Write adds to the blob.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.buf.Write(p)
	w.hash.Write(p[:n])
	w.size += int64(n)
	if err != nil {
		return n, w.store.explain("write a blob", err)
	}
	return n, nil
}

// Commit makes the blob durable and puts it in its place. An entry that is
// there already is replaced, which heals a damaged one.
func (w *Writer) Commit() (Digest, int64, error) {
	d := "sha256:" + hex.EncodeToString(w.hash.Sum(nil))
	if err := w.commit(w.store.Path(d)); err != nil {
		w.Abort()
		return "", 0, w.store.explain("store a blob", err)
	}
	return d, w.size, nil
}

func (w *Writer) commit(path string) error {
	if err := w.buf.Flush(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := w.file.Chmod(0o444); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), path); err != nil {
		return err
	}
	err := w.file.Close() // lets go of the lock
	w.file = nil
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Abort throws the blob away. After Commit it does nothing.
func (w *Writer) Abort() error {
	if w.file == nil {
		return nil
	}
	name := w.file.Name()
	err := errors.Join(os.Remove(name), w.file.Close())
	w.file = nil
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open returns the blob's content. Reading ends with ErrDamaged, not io.EOF,
// when the content doesn't have its digest.
func (s *Store) Open(d Digest) (io.ReadCloser, error) {
	f, err := os.Open(s.Path(d))
	if err != nil {
		return nil, fmt.Errorf("open a cache entry: %w", err)
	}
	return &reader{store: s, digest: d, file: f, hash: sha256.New()}, nil
}

// Verify reads the whole blob. A damaged one is removed and ErrDamaged comes
// back; one that is missing is fs.ErrNotExist.
func (s *Store) Verify(ctx context.Context, d Digest) error {
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, &contextReader{ctx, r}, make([]byte, 1<<18))
	return err
}

type reader struct {
	store  *Store
	digest Digest
	file   *os.File
	hash   hash.Hash
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && "sha256:"+hex.EncodeToString(r.hash.Sum(nil)) != r.digest {
		if rmErr := os.Remove(r.file.Name()); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
			return n, r.store.explain("remove a damaged cache entry", rmErr)
		}
		return n, fmt.Errorf("%s: %w", r.file.Name(), ErrDamaged)
	}
	return n, err
}

func (r *reader) Close() error { return r.file.Close() }

// TempDir makes a folder for one piece of work. cleanup removes it; if the
// process dies, GC does.
func (s *Store) TempDir(pattern string) (dir string, cleanup func(), err error) {
	dir, err = os.MkdirTemp(filepath.Join(s.dir, "tmp"), pattern)
	if err != nil {
		return "", nil, s.explain("make a folder for work", err)
	}
	d, err := os.Open(dir)
	if err == nil {
		err = lockFile(d)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, s.explain("lock a folder for work", err)
	}
	return dir, func() {
		_ = os.RemoveAll(dir) // what stays is garbage that GC collects
		_ = d.Close()
	}, nil
}
