package oci

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/stream"
)

// blob is one part of an image: a layer, or bytes that are at hand.
type blob struct {
	desc  v1.Descriptor
	layer v1.Layer // nil for manifests and configurations
	data  []byte
}

func (b blob) open() (io.ReadCloser, error) {
	if b.layer == nil {
		return io.NopCloser(bytes.NewReader(b.data)), nil
	}
	rc, err := b.layer.Compressed()
	if err != nil {
		return nil, fmt.Errorf("open layer %s: %w", b.desc.Digest, err)
	}
	return rc, nil
}

// copyTo copies the blob. Layers that aren't checked where they are opened are
// checked here: those of an image that somebody else has put together.
func (b blob) copyTo(ctx context.Context, w io.Writer, m *stream.Meter, buf []byte) error {
	h, err := v1.Hasher(b.desc.Digest.Algorithm)
	if err != nil {
		return fmt.Errorf("copy blob %s: %w", b.desc.Digest, err)
	}
	w = io.MultiWriter(w, m)
	if !b.checked() {
		w = io.MultiWriter(w, h)
	}
	if err := stream.Copy(ctx, w, b.open, buf); err != nil {
		return fmt.Errorf("copy blob %s: %w", b.desc.Digest, err)
	}
	if !b.checked() && hex.EncodeToString(h.Sum(nil)) != b.desc.Digest.Hex {
		return fmt.Errorf("copy blob %s: its bytes have another digest", b.desc.Digest)
	}
	return nil
}

// checked tells whether who opens the layer compares its bytes with the digest
// that the manifest names: a blobStore does, and a payload's own store.
func (b blob) checked() bool {
	v, ok := b.layer.(interface{ Verified() bool })
	if !ok || !v.Verified() {
		return false
	}
	h, err := b.layer.Digest()
	return err == nil && h == b.desc.Digest
}

// blobsOf lists the blobs of an image or index, each once, what is referred to
// before what refers to it: the root manifest is last. Foreign layers, which
// stay with their vendor, are left out.
func blobsOf(x ImageOrIndex) ([]blob, error) {
	c := &collector{seen: map[v1.Hash]bool{}}
	err := c.Add(x)
	return c.blobs, err
}

type collector struct {
	blobs []blob
	seen  map[v1.Hash]bool
}

func (c *collector) put(b blob) {
	if !c.seen[b.desc.Digest] {
		c.seen[b.desc.Digest] = true
		c.blobs = append(c.blobs, b)
	}
}

func (c *collector) Add(x ImageOrIndex) error {
	var err error
	switch x := x.(type) {
	case v1.Image:
		err = c.image(x)
	case v1.ImageIndex:
		err = c.index(x)
	default:
		err = fmt.Errorf("%T is neither an image nor an index", x)
	}
	if err != nil {
		return fmt.Errorf("read the image: %w", err)
	}
	root, err := describe(x)
	if err != nil {
		return fmt.Errorf("read the image: %w", err)
	}
	c.put(root)
	return nil
}

func (c *collector) image(img v1.Image) error {
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	if len(layers) != len(m.Layers) {
		return fmt.Errorf("%d layers in the manifest, %d at hand", len(m.Layers), len(layers))
	}
	for i, d := range m.Layers {
		if len(d.URLs) == 0 || d.MediaType.IsDistributable() {
			c.put(blob{desc: d, layer: layers[i]})
		}
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return err
	}
	c.put(blob{desc: m.Config, data: config})
	return nil
}

func (c *collector) index(idx v1.ImageIndex) error {
	m, err := idx.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range m.Manifests {
		var child ImageOrIndex
		switch {
		case d.MediaType.IsImage():
			child, err = idx.Image(d.Digest)
		case d.MediaType.IsIndex():
			child, err = idx.ImageIndex(d.Digest)
		default:
			err = fmt.Errorf("%s in the index isn't an image but %s", d.Digest, d.MediaType)
		}
		if err != nil {
			return err
		}
		if err := c.Add(child); err != nil {
			return err
		}
	}
	return nil
}

func describe(x ImageOrIndex) (b blob, err error) {
	if b.data, err = x.RawManifest(); err != nil {
		return b, err
	}
	if b.desc.Digest, b.desc.Size, err = v1.SHA256(bytes.NewReader(b.data)); err != nil {
		return b, err
	}
	b.desc.MediaType, err = x.MediaType()
	return b, err
}

func sizeOf(blobs []blob) (n int64) {
	for _, b := range blobs {
		n += b.desc.Size
	}
	return n
}

func inMemory(data []byte) *blob {
	b := &blob{data: data}
	b.desc.Digest, b.desc.Size, _ = v1.SHA256(bytes.NewReader(data)) // memory can be read
	return b
}
