package oci

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

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
	all, err := appendBlobs(nil, x)
	if err != nil {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	seen := map[v1.Hash]bool{}
	return slices.DeleteFunc(all, func(b blob) bool {
		again := seen[b.desc.Digest]
		seen[b.desc.Digest] = true
		return again
	}), nil
}

func appendBlobs(all []blob, x ImageOrIndex) (_ []blob, err error) {
	switch x := x.(type) {
	case v1.Image:
		all, err = appendImage(all, x)
	case v1.ImageIndex:
		all, err = appendIndex(all, x)
	}
	if err != nil {
		return nil, err
	}
	raw, err := x.RawManifest()
	if err != nil {
		return nil, err
	}
	root := inMemory(raw)
	root.desc.MediaType, err = x.MediaType()
	return append(all, root), err
}

func appendIndex(all []blob, idx v1.ImageIndex) ([]blob, error) {
	children, err := partial.Manifests(idx)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		x, ok := child.(ImageOrIndex)
		if !ok {
			return nil, errors.New("an entry of the index isn't an image")
		}
		if all, err = appendBlobs(all, x); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func appendImage(all []blob, img v1.Image) ([]blob, error) {
	m, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	if len(layers) != len(m.Layers) {
		return nil, fmt.Errorf("%d layers in the manifest, %d at hand", len(m.Layers), len(layers))
	}
	for i, d := range m.Layers {
		if len(d.URLs) == 0 || d.MediaType.IsDistributable() {
			all = append(all, blob{desc: d, layer: layers[i]})
		}
	}
	config, err := img.RawConfigFile()
	return append(all, blob{desc: m.Config, data: config}), err
}

func sizeOf(blobs []blob) (n int64) {
	for _, b := range blobs {
		n += b.desc.Size
	}
	return n
}

func inMemory(data []byte) blob {
	b := blob{data: data}
	b.desc.Digest, b.desc.Size, _ = v1.SHA256(bytes.NewReader(data)) // memory can be read
	return b
}
