package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
)

// Open returns the content of blob d, or an error that wraps fs.ErrNotExist.
// Read returns an error that wraps ErrDamaged in place of io.EOF when the
// content doesn't have its digest, and so does Close once all was read: use
// nothing before the end was reached.
func (s *Store) Open(d Digest) (io.ReadCloser, error) {
	f, err := s.OpenFile(d)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read blob %s: %w", d, err)
	}
	return &reader{store: s, digest: d, file: f, info: info, sum: sha256.New()}, nil
}

// OpenFile returns blob d for random access. It verifies nothing: call Verify
// first.
func (s *Store) OpenFile(d Digest) (*os.File, error) {
	if _, err := parse(d); err != nil {
		return nil, err
	}
	f, err := os.Open(s.Path(d))
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d, err)
	}
	return f, nil
}

// Verify reads the blob d and returns an error that wraps ErrDamaged if it
// isn't what was stored, or fs.ErrNotExist if it isn't there.
func (s *Store) Verify(d Digest) error {
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.CopyBuffer(io.Discard, r, make([]byte, bufferSize))
	return err
}

// reader hashes what it reads.
type reader struct {
	store  *Store
	digest Digest
	file   *os.File
	info   fs.FileInfo // at the start
	sum    hash.Hash
	count  int64
	end    error // what the end of the file turned out to be
}

func (r *reader) Read(p []byte) (int, error) {
	if r.end != nil {
		return 0, r.end
	}
	n, err := r.file.Read(p)
	r.sum.Write(p[:n])
	r.count += int64(n)
	if err == io.EOF {
		err = r.check()
	}
	return n, err
}

// Close verifies too when the caller took exactly as many bytes as there were
// and never asked for the end.
func (r *reader) Close() error {
	if r.end == nil && r.count >= r.info.Size() {
		r.check()
	}
	err := r.file.Close()
	if r.end != nil && r.end != io.EOF {
		return r.end
	}
	return err
}

// check sets and returns end.
func (r *reader) check() error {
	r.end = io.EOF
	if digestPrefix+hex.EncodeToString(r.sum.Sum(nil)) != r.digest {
		r.end = damagedBlob(r.digest, r.file.Name())
		r.store.drop(r.file.Name(), r.info)
	}
	return r.end
}

// drop removes a damaged file, unless a right one has taken its place since.
// Failing is no matter: the next reader finds the damage again.
func (s *Store) drop(path string, damaged fs.FileInfo) {
	unlock, err := s.exclude()
	if err != nil {
		return
	}
	defer unlock()
	if now, err := os.Stat(path); err == nil && os.SameFile(now, damaged) {
		_ = os.Remove(path)
	}
}
