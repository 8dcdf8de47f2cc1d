package payload

import (
	"cmp"
	"context"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/oci"
)

// LayerOptions says how NewLayer packs a tree.
type LayerOptions struct {
	// Codec compresses the layer; the zero value is DefaultCodec.
	Codec Codec
	// Removes are files of the image below, as paths in it, that nothing of
	// may stay: the layer has a whiteout for each that it doesn't replace. See
	// ImageSummary.Removes of package verify.
	Removes []string
	// Progress counts the bytes of the files, before compression. May be nil.
	Progress func(done, total int64)
}

// Layer is a payload as an image layer. Its blob is in a Store.
type Layer struct {
	packer *packer
	cached bool
	digest v1.Hash
	diffID v1.Hash
	size   int64
	// mediaType is what the layer's image calls it.
	mediaType types.MediaType
}

var _ v1.Layer = (*Layer)(nil)

// NewLayer packs the tree in one pass: each file is read once, checked against
// its SHA256, and no more than a few MiB of it are in memory at a time. The
// same tree gives the same bytes, whatever the order of its files, the machine
// or the number of its cores.
//
// When the store knows the layer, no file is opened; in the archived format,
// files whose archive the store knows aren't either. Errors are those of
// Tree.Check, of a file that isn't what its SHA256 says, of the store, and the
// context's.
func NewLayer(ctx context.Context, t *Tree, store Store, o LayerOptions) (*Layer, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	o.Codec = cmp.Or(o.Codec, DefaultCodec(t.Format))
	if err := o.Codec.Check(); err != nil {
		return nil, err
	}
	p := &packer{tree: t, codec: o.Codec, removes: o.Removes, store: store, meter: stream.NewMeter(o.Progress, t.Size())}
	rec, cached, err := p.layer(ctx)
	if err != nil {
		return nil, fmt.Errorf("pack the payload: %w", err)
	}
	if cached {
		p.meter.Add(t.Size())
	}
	l := &Layer{packer: p, cached: cached, size: rec.Size, mediaType: p.codec.MediaType()}
	if l.digest, err = v1.NewHash(rec.Digest); err != nil {
		return nil, fmt.Errorf("read the layer's record: %w", err)
	}
	if l.diffID, err = v1.NewHash(rec.DiffID); err != nil {
		return nil, fmt.Errorf("read the layer's record: %w", err)
	}
	return l, nil
}

// Cached tells whether the store knew the layer, so that nothing was packed.
func (l *Layer) Cached() bool { return l.cached }

// Digest returns the digest of the compressed layer.
func (l *Layer) Digest() (v1.Hash, error) { return l.digest, nil }

// DiffID returns the digest of the tar.
func (l *Layer) DiffID() (v1.Hash, error) { return l.diffID, nil }

// Size returns the size of the compressed layer in bytes.
func (l *Layer) Size() (int64, error) { return l.size, nil }

// MediaType returns the OCI media type of the compression, and docker's for
// the layer of an image that Append put on a base of docker's types.
func (l *Layer) MediaType() (types.MediaType, error) { return l.mediaType, nil }

// as is the same layer under another media type.
func (l *Layer) as(mt types.MediaType) *Layer {
	c := *l
	c.mediaType = mt
	return &c
}

// Compressed returns the blob. Its reader fails at the end when the store has
// damaged it; to pack the tree again makes it again.
func (l *Layer) Compressed() (io.ReadCloser, error) {
	rc, err := l.packer.store.Open(l.digest.String())
	if err != nil {
		return nil, fmt.Errorf("open the layer %s: %w", l.digest, err)
	}
	return rc, nil
}

// Uncompressed returns the tar.
func (l *Layer) Uncompressed() (io.ReadCloser, error) { return oci.Uncompressed(l) }

// NewExtras packs files into a layer with ExtrasRoot, as NewLayer packs a
// payload.
func NewExtras(ctx context.Context, files []File, store Store, o LayerOptions) (*Layer, error) {
	return NewLayer(ctx, &Tree{Format: Flat, Files: files, extras: true}, store, o)
}
