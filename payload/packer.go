package payload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/winbake/winbake/internal/base/stream"
)

type packer struct {
	tree    *Tree
	codec   Codec
	removes []string // see LayerOptions
	store   Store
	meter   *stream.Meter
}

// packed is what the store remembers of a layer, or of a member: a single-member
// archive.
type packed struct {
	Digest string `json:"digest"`
	DiffID string `json:"diffID,omitempty"` // of a layer
	Size   int64  `json:"size"`             // of the blob, in bytes
}

// key names everything that decides the layer's bytes.
func (p *packer) key() string {
	k := struct {
		Tar           int
		Format        Format
		Codec, Member string
		Mode          int
		Files         [][2]string
		Kept          [][2]string `json:",omitempty"`
		Removes       []string    `json:",omitempty"`
		Extras        bool        `json:",omitempty"`
	}{Extras: p.tree.extras, Removes: slices.Sorted(slices.Values(p.removes)), Tar: tarVersion, Format: p.tree.Format, Codec: p.codec.ID(), Mode: fileMode}
	if p.tree.Format == Archived {
		k.Member = memberCodec.ID()
		for _, f := range p.tree.Kept {
			k.Kept = append(k.Kept, [2]string{f.Path, f.SHA256})
		}
	}
	for _, f := range p.tree.Sorted() {
		k.Files = append(k.Files, [2]string{f.Path, f.SHA256})
	}
	return digestOf("layer", k)
}

// digestOf is the digest of a record's kind and JSON.
func digestOf(kind string, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers
	}
	sum := sha256.Sum256(append([]byte("winbake payload "+kind+"\n"), b...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// has tells whether a blob is there. Its content is checked when it is read.
func (p *packer) has(digest string) bool {
	rc, err := p.store.Open(digest)
	return err == nil && rc.Close() == nil
}

// once returns what the store has under key, or makes it: fill writes the blob. what
// names it.
func (p *packer) once(what, key string, fill func(w io.Writer, rec *packed) error) (rec packed, known bool, err error) {
	if known, err = p.store.Lookup(key, &rec); err != nil {
		return rec, false, fmt.Errorf("look up %s: %w", what, err)
	}
	if known && p.has(rec.Digest) {
		return rec, true, nil
	}
	blob, err := p.store.Create()
	if err != nil {
		return rec, false, fmt.Errorf("create %s: %w", what, err)
	}
	defer func() { err = errors.Join(err, blob.Abort()) }()
	if err := fill(blob, &rec); err != nil {
		return rec, false, err
	}
	if rec.Digest, rec.Size, err = blob.Commit(); err != nil {
		return rec, false, fmt.Errorf("keep %s: %w", what, err)
	}
	if err := p.store.Record(key, rec); err != nil {
		return rec, false, fmt.Errorf("record %s: %w", what, err)
	}
	return rec, false, nil
}

// layer is the single pass: content, its check, tar, diff id, compressor, digest,
// blob.
func (p *packer) layer(ctx context.Context) (packed, bool, error) {
	return p.once("the layer", p.key(), func(w io.Writer, rec *packed) error {
		contents, err := p.contents(ctx)
		if err != nil {
			return err
		}
		diff := sha256.New()
		err = p.codec.compress(w, allBlocks(), func(z io.Writer) error {
			return writeTar(ctx, io.MultiWriter(diff, z), arrange(p.tree, contents, p.removes))
		})
		rec.DiffID = "sha256:" + hex.EncodeToString(diff.Sum(nil))
		return err
	})
}

// contents puts the files into the tree's format.
func (p *packer) contents(ctx context.Context) ([]entry, error) {
	files := p.tree.Sorted()
	var out []entry
	if p.tree.Format == Flat {
		for _, f := range files {
			out = append(out, p.tree.entry(f.Path, f.Size, func() (io.ReadCloser, error) { return f.verified(p.meter) }))
		}
		return out, nil
	}
	members, err := p.members(ctx, files)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		out = append(out, p.tree.entry(f.Path+ArchiveSuffix, members[i].Size, func() (io.ReadCloser, error) {
			rc, err := p.store.Open(members[i].Digest)
			if err != nil {
				return nil, fmt.Errorf("open the archive of %s: %w", f.Path, err)
			}
			return rc, nil
		}))
	}
	return append(out, p.sums()), nil
}

func (p *packer) sums() entry {
	text := sums(p.tree)
	return p.tree.entry(SumsName, int64(len(text)), func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	})
}

// Store keeps blobs by digest ("sha256:<hex>") and small JSON records by key,
// a digest too. Layers and archive members are cached through it; a Store that
// forgets costs time, never correctness. Its methods are called from several
// goroutines at once.
type Store interface {
	// Create starts a blob.
	Create() (BlobWriter, error)
	// Open returns a blob's content. Read must return an error instead of
	// io.EOF when the content doesn't have that digest any more; the next
	// Open of it should fail then, so that what is made again is packed again.
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
