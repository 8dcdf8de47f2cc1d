package bake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"github.com/winbake/winbake/internal/cas"
	"github.com/winbake/winbake/payload"
)

// blobStore lets package payload keep layers in the cache.
type blobStore struct{ store *cas.Store }

var _ payload.Store = blobStore{}

func (b blobStore) Create() (payload.BlobWriter, error) { return b.store.Create() }

// Open takes a blob that is gone for a damaged one: to run again makes either anew.
func (b blobStore) Open(digest string) (io.ReadCloser, error) {
	rc, err := b.store.Open(digest)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", cas.ErrDamaged, err)
	}
	return rc, err
}

// Record keeps v, and for as long as v is kept the blobs that it names: a
// layer's record would be of no use without its blob.
func (b blobStore) Record(key string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a cache record: %w", err)
	}
	var refs []cas.Digest
	for _, d := range digests.FindAllString(string(data), -1) {
		// A layer's diff ID is a digest too, of what nobody keeps.
		if _, err := b.store.Stat(d); err == nil {
			refs = append(refs, d)
		}
	}
	return b.store.PutAction(key, v, refs...)
}

var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// Lookup takes a damaged record for none: it is gone, and made again.
func (b blobStore) Lookup(key string, v any) (bool, error) {
	ok, err := b.store.GetAction(key, v)
	if errors.Is(err, cas.ErrDamaged) {
		return false, nil
	}
	return ok, err
}
