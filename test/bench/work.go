package main

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/klauspost/compress/gzip"

	"github.com/winbake/winbake/internal/cas"
	"github.com/winbake/winbake/payload"
)

// work is what a child process does, into dir.
func work(name, list, dir string) error {
	var inputs []input
	data, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &inputs); err != nil {
		return err
	}
	switch name {
	case "A":
		return containerfileWay(inputs, dir)
	case "B":
		return defaultAppend(inputs, dir)
	case "archived":
		return ours(inputs, dir, payload.Archived, payload.Gzip)
	case "flat-gzip":
		return ours(inputs, dir, payload.Flat, payload.Gzip)
	case "flat-zstd":
		return ours(inputs, dir, payload.Flat, payload.Zstd)
	case "inflate":
		return inflate(dir)
	}
	return fmt.Errorf("no work %q", name)
}

// containerfileWay is what WMCO's Containerfile does for each file, then a
// default append.
func containerfileWay(inputs []input, dir string) error {
	var archives []input
	for _, f := range inputs {
		place := filepath.Join(dir, "tree", f.Payload)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := copyFile(f.Path, place); err != nil {
			return err
		}
		script := `cd "$(dirname "$1")" && n=$(basename "$1") && tar -cf - "$n" | gzip -9 > "$n.tar.gz" && sha256sum "$n" >> "$2"`
		if out, err := exec.Command("bash", "-euo", "pipefail", "-c", script, "-", place, filepath.Join(dir, "sha256sum")).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		archives = append(archives, input{Payload: f.Payload + ".tar.gz", Path: place + ".tar.gz"})
	}
	archives = append(archives, input{Payload: "sha256sum", Path: filepath.Join(dir, "sha256sum")})
	return defaultAppend(archives, dir)
}

// defaultAppend is go-containerregistry's usual way: a layer from a tarball,
// appended and written as a layout.
func defaultAppend(inputs []input, dir string) error {
	file := filepath.Join(dir, "layer.tar")
	if err := writeTar(inputs, file); err != nil {
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

func writeTar(inputs []input, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	sorted := slices.SortedFunc(slices.Values(inputs), func(a, b input) int { return strings.Compare(a.Payload, b.Payload) })
	for _, in := range sorted {
		src, err := os.Open(in.Path)
		if err != nil {
			return err
		}
		info, err := src.Stat()
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: "payload/" + in.Payload, Mode: 0o644, Size: info.Size()}); err != nil {
			return err
		}
		if _, err := io.Copy(w, src); err != nil {
			return err
		}
		src.Close()
	}
	return w.Close()
}

// store is a fresh cache: nothing is known.
type store struct{ *cas.Store }

func (s store) Create() (payload.BlobWriter, error) { return s.Store.Create() }
func (s store) Record(key string, v any) error      { return s.PutAction(key, v) }
func (s store) Lookup(key string, v any) (bool, error) {
	return s.GetAction(key, v)
}

func ours(inputs []input, dir string, format payload.Format, codec string) error {
	kept, err := cas.Open(filepath.Join(dir, "cache"))
	if err != nil {
		return err
	}
	tree := &payload.Tree{Format: format}
	built, err := cas.Open(inputs[0].Store)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		tree.Files = append(tree.Files, payload.File{Path: in.Payload, SHA256: strings.TrimPrefix(in.Digest, "sha256:"), Size: in.Size, Verified: true,
			Open: func() (io.ReadCloser, error) { return built.Open(in.Digest) }})
	}
	c, err := payload.NewCodec(codec, format)
	if err != nil {
		return err
	}
	ctx := context.Background()
	layer, err := payload.NewLayer(ctx, tree, store{kept}, payload.LayerOptions{Codec: c})
	if err != nil {
		return err
	}
	image, err := payload.NewImage(layer, payload.ImageOptions{})
	if err != nil {
		return err
	}
	_, err = payload.WriteLayout(ctx, filepath.Join(dir, "layout"), image, nil)
	return err
}

// inflate is the floor of any check: hash each blob, inflate it, hash what
// comes out.
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
	defer rc.Close()
	blob, content := sha256.New(), sha256.New()
	z, err := gzip.NewReader(io.TeeReader(rc, blob))
	if err != nil {
		return err
	}
	_, err = io.Copy(content, z)
	return err
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// treeSize sums the files below dir.
func treeSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error { // a missing folder has no size
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
