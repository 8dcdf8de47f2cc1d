package oci

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

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
	return b.layer.Compressed()
}

// copyTo copies the blob, and compares it with its digest.
func (b blob) copyTo(ctx context.Context, w io.Writer, m *stream.Meter, buf []byte) error {
	h, err := v1.Hasher(b.desc.Digest.Algorithm)
	if err == nil {
		err = stream.Copy(ctx, io.MultiWriter(w, m, h), b.open, buf)
	}
	if err != nil {
		return fmt.Errorf("copy blob %s: %w", b.desc.Digest, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != b.desc.Digest.Hex {
		return fmt.Errorf("copy blob %s: its bytes have another digest", b.desc.Digest)
	}
	return nil
}

// blobsOf lists the blobs of an image or index, each once, what is referred to
// before what refers to it: the root manifest is last. Foreign layers, which
// stay with their vendor, are left out.
func blobsOf(x ImageOrIndex) ([]blob, error) {
	c := &collector{seen: map[v1.Hash]bool{}}
	if err := c.add(x); err != nil {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	return c.blobs, nil
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

func (c *collector) add(x ImageOrIndex) (err error) {
	switch x := x.(type) {
	case v1.Image:
		err = c.image(x)
	case v1.ImageIndex:
		err = c.index(x)
	}
	if err != nil {
		return err
	}
	raw, err := x.RawManifest()
	if err != nil {
		return err
	}
	root := inMemory(raw)
	root.desc.MediaType, err = x.MediaType()
	c.put(*root)
	return err
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
	c.put(blob{desc: m.Config, data: config})
	return err
}

func (c *collector) index(idx v1.ImageIndex) error {
	children, err := partial.Manifests(idx)
	if err != nil {
		return err
	}
	for _, child := range children {
		x, ok := child.(ImageOrIndex)
		if !ok {
			h, _ := child.Digest()
			return fmt.Errorf("%s in the index isn't an image", h)
		}
		if err := c.add(x); err != nil {
			return err
		}
	}
	return nil
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
