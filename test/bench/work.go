package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/winbake/winbake/internal/build/cache"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

// work is what a child process does, into dir.
func work(ctx context.Context, name, list, dir string) error {
	if name == "list" {
		return listAll(ctx, list) // a kubeconfig
	}
	inputs, err := readList(list)
	if err != nil {
		return err
	}
	switch name {
	case "A":
		return containerfileWay(ctx, inputs, dir)
	case "B":
		return defaultAppend(inputs, dir)
	case "archived":
		return ours(ctx, inputs, dir, payload.Archived, payload.Gzip)
	case "flat-gzip":
		return ours(ctx, inputs, dir, payload.Flat, payload.Gzip)
	case "flat-zstd":
		return ours(ctx, inputs, dir, payload.Flat, payload.Zstd)
	case "inflate":
		return inflate(dir)
	case "decode":
		return decode(dir)
	}
	return fmt.Errorf("no work %q", name)
}

// prepare does what isn't measured ahead of the work.
func prepare(name string, inputs []input, dir string) error {
	if name == "A" {
		return linkTree(inputs, filepath.Join(dir, "tree"))
	}
	return nil
}

// store is bake's own cache, as package payload wants it.
type store struct{ *cache.Store }

func (s store) Create() (payload.BlobWriter, error) { return s.Store.Create() }
func (s store) Record(key string, v any) error      { return s.PutAction(key, v) }
func (s store) Lookup(key string, v any) (bool, error) {
	return s.GetAction(key, v), nil
}

// ours packs what bake packs, as bake does it: artifacts come from the store,
// which hashes them on the way out. The cache of layers is empty.
func ours(ctx context.Context, inputs []input, dir string, format payload.Format, codec string) error {
	kept, err := cache.Open(filepath.Join(dir, "cache"))
	if err != nil {
		return err
	}
	tree := &payload.Tree{Format: format}
	for _, in := range inputs {
		built, err := cache.Open(in.Store)
		if err != nil {
			return err
		}
		tree.Files = append(tree.Files, payload.File{Path: in.Payload, SHA256: in.SHA256(), Size: in.Size, Verified: true,
			Open: func() (io.ReadCloser, error) { return built.Open(in.Digest) }})
	}
	c, err := payload.NewCodec(codec, format)
	if err != nil {
		return err
	}
	layer, err := payload.NewLayer(ctx, tree, store{kept}, payload.LayerOptions{Codec: c})
	if err != nil {
		return err
	}
	image, err := payload.NewImage(layer, payload.ImageOptions{})
	if err != nil {
		return err
	}
	_, err = oci.WriteLayout(ctx, filepath.Join(dir, "layout"), image, nil)
	return err
}
