package images

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"testing"

	"github.com/winbake/winbake/payload"
)

// memStore is a Store in memory that counts, and that can be damaged.
type memStore struct {
	mu      sync.Mutex
	blobs   map[string][]byte
	records map[string][]byte
	commits int
	full    error // what writing a blob fails with
}

func newMemStore() *memStore {
	return &memStore{blobs: map[string][]byte{}, records: map[string][]byte{}}
}

var errDamaged = errors.New("damaged")

func (s *memStore) Create() (payload.BlobWriter, error) { return &memWriter{store: s}, nil }

func (s *memStore) Open(digest string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[digest]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &memReader{r: bytes.NewReader(b), store: s, digest: digest, good: digestOfBytes(b) == digest}, nil
}

func (s *memStore) Record(key string, v any) error {
	b, err := json.Marshal(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[key] = b
	return err
}

func (s *memStore) Lookup(key string, v any) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.records[key]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(b, v)
}

// damage flips a byte of a blob; the next full read finds and removes it.
func (s *memStore) damage(t *testing.T, digest string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[digest]
	if !ok {
		t.Fatalf("no blob %s to damage", digest)
	}
	b = bytes.Clone(b)
	b[len(b)/2] ^= 1
	s.blobs[digest] = b
}

// taken returns the number of blobs committed since the last call.
func (s *memStore) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.commits
	s.commits = 0
	return n
}

type memWriter struct {
	store *memStore
	buf   bytes.Buffer
}

func (w *memWriter) Write(p []byte) (int, error) {
	if w.store.full != nil {
		return 0, w.store.full
	}
	return w.buf.Write(p)
}

func (w *memWriter) Abort() error { return nil }

func (w *memWriter) Commit() (string, int64, error) {
	b := bytes.Clone(w.buf.Bytes())
	d := digestOfBytes(b)
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.store.blobs[d] = b
	w.store.commits++
	return d, int64(len(b)), nil
}

type memReader struct {
	r      io.Reader
	store  *memStore
	digest string
	good   bool
}

func (r *memReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err == io.EOF && !r.good {
		r.store.mu.Lock()
		delete(r.store.blobs, r.digest)
		r.store.mu.Unlock()
		return n, errDamaged
	}
	return n, err
}

func (r *memReader) Close() error { return nil }

func digestOfBytes(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
