package payload

import (
	"io"
	"sync"
)

// Store keeps blobs by digest ("sha256:<hex>") and small JSON records by key,
// a digest too. Layers and archive members are cached through it; a Store that
// forgets costs time, never correctness. Its methods are called from several
// goroutines at once.
type Store interface {
	// Create starts a blob.
	Create() (BlobWriter, error)
	// Open returns a blob's content. Read must return an error instead of
	// io.EOF when the content doesn't have that digest any more; the next
	// Open of it should fail then, so that what is made again is packed anew.
	Open(digest string) (io.ReadCloser, error)
	// Record keeps v, which encodes to JSON, under a key. v names blobs by
	// their digests: a Store that removes what is unused keeps those as long
	// as the record.
	Record(key string, v any) error
	// Lookup decodes into v what Record kept under key; false when there is
	// nothing.
	Lookup(key string, v any) (bool, error)
}

// BlobWriter takes the content of one blob.
type BlobWriter interface {
	io.Writer
	// Commit ends the blob, makes it durable and returns its digest and its
	// size in bytes.
	Commit() (digest string, size int64, err error)
	// Abort throws the blob away. After Commit it does nothing.
	Abort() error
}

// stickyWriter never fails a Write but keeps the first error. pgzip can't be
// closed after a failed write and would leave its goroutines behind.
type stickyWriter struct {
	w     io.Writer
	mu    sync.Mutex
	first error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	if s.err() != nil {
		return len(p), nil //nolint:nilerr // kept for the writer's end
	}
	if _, err := s.w.Write(p); err != nil {
		s.mu.Lock()
		s.first = err
		s.mu.Unlock()
	}
	return len(p), nil
}

func (s *stickyWriter) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}
