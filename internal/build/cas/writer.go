package cas

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/base/stream"
)

// Writer takes the content of one blob. Commit or Abort ends it; it's for one
// goroutine at a time.
type Writer struct {
	store *Store
	file  *os.File // nil once ended
	out   *bufio.Writer
	sum   hash.Hash
	crc   uint32
	size  int64
}

// Create starts a blob.
func (s *Store) Create() (*Writer, error) {
	f, err := s.createTemp("blob-*")
	if err != nil {
		return nil, err
	}
	return &Writer{store: s, file: f, out: bufio.NewWriterSize(f, bufferSize), sum: sha256.New()}, nil
}

// Write adds p to the blob.
func (w *Writer) Write(p []byte) (int, error) {
	if w.file == nil {
		return 0, fs.ErrClosed
	}
	n, err := w.out.Write(p)
	w.sum.Write(p[:n])
	w.crc = crc32.Update(w.crc, castagnoli, p[:n])
	w.size += int64(n)
	if err != nil {
		return n, w.store.explain("write a blob", err)
	}
	return n, nil
}

// Commit makes the blob durable and returns its digest and its size in bytes.
// After an error, nothing half-written stays.
//
// A blob that is there already is replaced: what was written just now is known
// to be right, so that writing a blob again heals a damaged one without
// anybody having to read it.
func (w *Writer) Commit() (Digest, int64, error) {
	if w.file == nil {
		return "", 0, fs.ErrClosed
	}
	defer w.Abort() //nolint:errcheck // what stays behind, GC takes
	if err := w.out.Flush(); err != nil {
		return "", 0, w.store.explain("write a blob", err)
	}
	digest := digestPrefix + hex.EncodeToString(w.sum.Sum(nil))
	path := w.store.Path(digest)
	if err := w.store.commit(w.file, path); err != nil {
		return "", 0, err
	}
	w.store.noteCRC(path, w.crc)
	return digest, w.size, nil
}

// Abort throws the blob away. After Commit it does nothing.
func (w *Writer) Abort() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return w.store.discard(f)
}

// Put stores everything that r gives and returns its digest and size in bytes.
// It stops between two reads once ctx is done.
func (s *Store) Put(ctx context.Context, r io.Reader) (Digest, int64, error) {
	w, err := s.Create()
	if err != nil {
		return "", 0, err
	}
	defer w.Abort() //nolint:errcheck // what stays behind, GC takes
	buf := make([]byte, bufferSize)
	// Plain interfaces on both sides: no ReadFrom or WriteTo may bypass ctx.
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, stream.NewReader(ctx, r), buf)
	if ctx.Err() != nil {
		return "", 0, context.Cause(ctx)
	}
	if err != nil {
		return "", 0, err
	}
	return w.Commit()
}

// commit makes f durable under path. The caller still discards f.
func (s *Store) commit(f *os.File, path string) error {
	shard := filepath.Dir(path)
	switch err := os.Mkdir(shard, dirMode); {
	case err == nil:
		if err := atomicfs.SyncDir(filepath.Dir(shard)); err != nil {
			return s.explain("sync a folder of the cache", err)
		}
	case !errors.Is(err, fs.ErrExist):
		return s.explain("make a folder of the cache", err)
	}
	info, err := os.Stat(shard)
	if err != nil {
		return s.explain("look at a folder of the cache", err)
	}
	if err := f.Chmod(storedMode | info.Mode()&0o020); err != nil { // see touch
		return s.explain("protect a file of the cache", err)
	}
	if err := f.Sync(); err != nil {
		return s.explain("sync a file of the cache", err)
	}
	unlock, err := s.share()
	if err != nil {
		return err
	}
	f.Close() // synced; Windows renames no open file, and no collector looks now
	err = rename(f.Name(), path)
	unlock()
	if err != nil {
		return s.explain("move a file into the cache", err)
	}
	return s.explain("sync a folder of the cache", atomicfs.SyncDir(shard))
}

// discard closes f and removes it, unless commit has moved it away.
func (s *Store) discard(f *os.File) error {
	f.Close() // synced or not wanted; Windows removes no open file
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an unfinished file: %w", err)
	}
	return nil
}
