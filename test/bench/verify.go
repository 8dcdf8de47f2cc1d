package main

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/klauspost/compress/gzip"
)

// verify compares the check of an image with the least that any check must do.
func (b *bench) verify(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, format := range []string{"flat", "archived"} {
		dir := filepath.Join(b.dir, "verify-"+format)
		if _, err := output(ctx, "bin/bake", "payload", "-q", "--format", format, "--layout", dir); err != nil {
			return err
		}
		var plain, ours usage
		for i := range runs { // in turn: what else runs meets both
			p, err := measure(ctx, self, "-child", "inflate", b.list(), dir)
			if err != nil {
				return err
			}
			o, err := measure(ctx, "bin/verify", "payload", "-q", dir, "-f", "versions.yaml", "--format", format)
			if err != nil {
				return err
			}
			if i > 0 {
				p, o = plain.least(p), ours.least(o)
			}
			plain, ours = p, o
		}
		b.table.add("verify payload, "+format+": time / hashing and inflating", seconds(plain.wall), seconds(ours.wall), ratio(ours.wall, plain.wall), atMost(2))
	}
	return nil
}

// inflate is the floor of any check: it hashes each blob, inflates it and
// hashes what comes out, and does the same with the archives in it.
func inflate(dir string) error {
	path, err := layout.FromPath(dir)
	if err != nil {
		return err
	}
	index, err := path.ImageIndex()
	if err != nil {
		return err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return err
	}
	image, err := index.Image(m.Manifests[0].Digest)
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, l := range layers {
		if err := inflateLayer(l); err != nil {
			return err
		}
	}
	return nil
}

func inflateLayer(l v1.Layer) error {
	rc, err := l.Compressed()
	if err != nil {
		return err
	}
	defer rc.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(io.TeeReader(rc, sha256.New()))
	if err != nil {
		return err
	}
	content := io.TeeReader(z, sha256.New())
	t := tar.NewReader(content)
	for {
		h, err := t.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, content) // what follows the tar's end
			return err
		}
		if err != nil {
			return err
		}
		if strings.HasSuffix(h.Name, ".tar.gz") {
			if err := inflateArchive(t); err != nil {
				return err
			}
		}
	}
}

func inflateArchive(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(sha256.New(), z)
	return err
}
