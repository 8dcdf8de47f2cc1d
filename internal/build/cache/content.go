package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
)

// Path returns where the content of digest d is or would be; empty when d isn't a
// digest. It counts as a use. Reading the file there doesn't verify it.
func (s *Store) Path(d Digest) string {
	id, err := parse(d)
	if err != nil {
		return ""
	}
	return s.artifacts.OutputFile(id)
}

// Has tells whether the content of digest d is there, unread.
func (s *Store) Has(d Digest) bool {
	_, err := os.Stat(s.Path(d))
	return err == nil
}

// Open returns the content of digest d, or an error that wraps fs.ErrNotExist.
// Read returns an error that wraps ErrDamaged instead of io.EOF when the content
// isn't what was stored, and so does Close once all was read: use nothing before
// the end was reached.
func (s *Store) Open(d Digest) (io.ReadCloser, error) {
	f, err := os.Open(s.Path(d))
	if err != nil {
		return nil, fmt.Errorf("open %s in the cache: %w", d, err)
	}
	return &reader{digest: d, file: f, sum: sha256.New()}, nil
}

type reader struct {
	digest Digest
	file   *os.File
	sum    hash.Hash
	end    error // what the end of the file turned out to be
}

func (r *reader) Read(p []byte) (n int, err error) {
	if r.end != nil {
		return 0, r.end
	}
	n, err = r.file.Read(p)
	r.sum.Write(p[:n])
	if err == io.EOF {
		r.end = r.check()
		return n, r.end
	}
	return n, err
}

// Close asks for the end when the caller took all and didn't.
func (r *reader) Close() error {
	_, err := r.Read(make([]byte, 1))
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, r.file.Close())
}

// ErrDamaged is wrapped by the errors about content that isn't what was stored. It
// has been removed: making it again is safe.
var ErrDamaged = errors.New("damaged in the cache")

// check returns io.EOF for what is sound. It removes what isn't, unless it has been
// made again since. If it can't be removed, the next reader finds it again.
func (r *reader) check() error {
	if digestOf(r.sum) == r.digest {
		return io.EOF
	}
	damaged, err := r.file.Stat()
	if now, nowErr := os.Stat(r.file.Name()); err == nil && nowErr == nil && os.SameFile(now, damaged) {
		_ = os.Remove(r.file.Name())
	}
	return &fault.Error{
		What: r.digest + " was damaged on disk and has been removed", Where: r.file.Name(),
		Fix: "run the command again: it makes it again", Err: ErrDamaged,
	}
}

func digestOf(sum hash.Hash) Digest { return "sha256:" + hex.EncodeToString(sum.Sum(nil)) }

// Writer takes content whose digest isn't known yet. Commit or Abort ends it; it's
// for one goroutine at a time.
type Writer struct {
	store  *Store
	file   *os.File
	remove func() error // the folder of the file
	sum    hash.Hash
}

// Create starts to store content.
func (s *Store) Create() (*Writer, error) {
	dir, remove, err := s.TempDir()
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "content"))
	if err != nil {
		return nil, errors.Join(explain(s.dir, err), remove())
	}
	return &Writer{s, f, remove, sha256.New()}, nil
}

// Write adds p to the content.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.sum.Write(p[:n])
	return n, explain(w.store.dir, err)
}

// Commit keeps the content and returns its digest and its size in bytes. What is
// there already is replaced: what was written just now is known to be right.
func (w *Writer) Commit() (d Digest, size int64, err error) {
	defer w.Abort() //nolint:errcheck // what stays behind, Trim takes
	d = digestOf(w.sum)
	size, err = w.file.Seek(0, io.SeekCurrent)
	if err = errors.Join(err, w.file.Close()); err == nil {
		err = os.Rename(w.file.Name(), w.store.Path(d))
	}
	return d, size, explain(w.store.dir, err)
}

// Abort throws the content away. After Commit it does nothing.
func (w *Writer) Abort() error {
	_ = w.file.Close()
	_ = w.remove()
	return nil
}

// Put stores everything that r gives and returns its digest and size in bytes.
// It stops between two reads once ctx is done.
func (s *Store) Put(ctx context.Context, r io.Reader) (Digest, int64, error) {
	w, err := s.Create()
	if err != nil {
		return "", 0, err
	}
	defer w.Abort() //nolint:errcheck // what stays behind, Trim takes
	// Plain interfaces on both sides: no ReadFrom or WriteTo may bypass ctx.
	if _, err = io.Copy(struct{ io.Writer }{w}, stream.NewReader(ctx, r)); err != nil {
		return "", 0, err
	}
	return w.Commit()
}
