package main

import (
	"archive/tar"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// packScript packs one file as the Containerfile of the operator does. GNU
// tar, gzip and sha256sum are those of the machine.
const packScript = `cd "$(dirname "$1")"
n=$(basename "$1")
tar -chf - "$n" | gzip -9 > "$n.tar.gz"
sha256sum "$n" >> "$2"`

// containerfileWay is baseline A: archive and checksum of each file below
// dir/tree, one after another, then a default append. See
// https://github.com/openshift/windows-machine-config-operator/blob/master/Containerfile
func containerfileWay(ctx context.Context, inputs []input, dir string) error {
	sums := filepath.Join(dir, "sha256sum")
	archives := []input{{Payload: "sha256sum", Path: sums}}
	for _, in := range inputs {
		file := filepath.Join(dir, "tree", in.Payload)
		if out, err := command(ctx, "bash", "-euo", "pipefail", "-c", packScript, "pack", file, sums).CombinedOutput(); err != nil {
			return fmt.Errorf("pack %s: %w\n%s", in.Payload, err, out)
		}
		archives = append(archives, input{Payload: in.Payload + ".tar.gz", Path: file + ".tar.gz"})
	}
	return defaultAppend(archives, dir)
}

// linkTree gives the files their names: in the cache they have digests.
func linkTree(inputs []input, dir string) error {
	for _, in := range inputs {
		place := filepath.Join(dir, in.Payload)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(in.Path, place); err != nil {
			return err
		}
	}
	return nil
}

// defaultAppend is baseline B, and the end of A: go-containerregistry's usual
// way, a layer from a tarball, appended and written as a layout.
func defaultAppend(inputs []input, dir string) error {
	file := filepath.Join(dir, "layer.tar")
	if err := tarFile(inputs, file); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	path, err := layout.Write(filepath.Join(dir, "layout"), empty.Index)
	if err != nil {
		return err
	}
	return path.AppendImage(image)
}

func tarFile(inputs []input, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	for _, in := range slices.SortedFunc(slices.Values(inputs), func(a, b input) int { return cmp.Compare(a.Payload, b.Payload) }) {
		if err := tarEntry(w, in); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func tarEntry(w *tar.Writer, in input) error {
	src, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Name: "payload/" + in.Payload, Mode: 0o644, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(w, src)
	return err
}
