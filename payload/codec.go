package payload

import "io"

// Codec is a compressor of layers and its level.
type Codec struct {
	// Name is "gzip" or "zstd".
	Name string
	// Level is the compressor's own: 1 to 9 for gzip, 1 to 4 for zstd.
	Level int
}

// Store keeps blobs by digest ("sha256:<hex>") and small JSON records by key.
// Layers and archive members are cached through it; a Store that forgets
// costs time, never correctness. Its methods are called from several
// goroutines at once.
type Store interface {
	// Create starts a blob.
	Create() (BlobWriter, error)
	// Open returns a blob's content. Read must return an error instead of
	// io.EOF when the content doesn't have that digest any more. An unknown
	// digest is an error that is fs.ErrNotExist.
	Open(digest string) (io.ReadCloser, error)
	// Record keeps v, which encodes to JSON, under a key.
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
