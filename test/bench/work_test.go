package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/winbake/winbake/internal/build/cache"
)

// smallInputs are two files in a cache.
func smallInputs(t *testing.T) (inputs []input, content map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	s, err := cache.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 3<<20)
	if _, err := rand.NewChaCha8([32]byte{}).Read(random); err != nil {
		t.Fatal(err)
	}
	content = map[string]string{"b/large.exe": string(random), "a.conf": strings.Repeat("text\n", 1000)}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		d, n, err := s.Put(t.Context(), strings.NewReader(content[name]))
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, input{Component: path.Base(name), Payload: name, Digest: d, Path: s.Path(d), Store: dir, Size: n})
	}
	return inputs, content
}

// TestWorksPackTheSame: a comparison means something only if both sides end
// with the same files in an image.
func TestWorksPackTheSame(t *testing.T) {
	inputs, content := smallInputs(t)
	for _, name := range []string{"A", "B", "archived", "flat-gzip", "flat-zstd"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			list := filepath.Join(dir, "inputs.json")
			b := bench{dir: dir, inputs: inputs}
			if err := b.writeList(); err != nil {
				t.Fatal(err)
			}
			if err := prepare(name, inputs, dir); err != nil {
				t.Fatal(err)
			}
			if err := work(t.Context(), name, list, dir); err != nil {
				t.Fatal(err)
			}
			got, sums := packed(t, filepath.Join(dir, "layout"))
			for file, want := range content {
				if got[file] != want {
					t.Errorf("%s has %d bytes, want %d", file, len(got[file]), len(want))
				}
			}
			if len(got) != len(content) {
				t.Errorf("%d files, want %d", len(got), len(content))
			}
			for _, in := range inputs {
				if archived := name == "A" || name == "archived"; archived != strings.Contains(sums, in.SHA256()) {
					t.Errorf("sha256sum is %q", sums)
				}
			}
		})
	}
}

// packed reads the files of an image's layer back, and its sha256sum file.
func packed(t *testing.T, dir string) (files map[string]string, sums string) {
	t.Helper()
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	rc, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	files = map[string]string{}
	for name, data := range untar(t, rc) {
		name = strings.TrimPrefix(name, "payload/")
		plain, archived := strings.CutSuffix(name, ".tar.gz")
		switch {
		case name == "sha256sum":
			sums = data
		case archived:
			z, err := gzip.NewReader(strings.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			files[plain] = untar(t, z)[path.Base(plain)]
		default:
			files[name] = data
		}
	}
	return files, sums
}

func untar(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(tr); err != nil {
			t.Fatal(err)
		}
		files[h.Name] = b.String()
	}
}

// TestInflateReadsAll: a floor that stops early would be no floor.
func TestInflateReadsAll(t *testing.T) {
	inputs, _ := smallInputs(t)
	for _, name := range []string{"archived", "flat-gzip"} {
		dir := t.TempDir()
		b := bench{dir: dir, inputs: inputs}
		if err := b.writeList(); err != nil {
			t.Fatal(err)
		}
		if err := work(t.Context(), name, b.list(), dir); err != nil {
			t.Fatal(err)
		}
		image := filepath.Join(dir, "layout")
		if err := work(t.Context(), "inflate", b.list(), image); err != nil {
			t.Fatal(err)
		}
		cutLargest(t, image)
		if err := inflate(image); err == nil {
			t.Errorf("%s: the layer lacks its end, and all is well", name)
		}
	}
}

func cutLargest(t *testing.T, dir string) {
	t.Helper()
	var largest string
	var size int64
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			largest, size = path, info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	// It may be linked into a cache.
	if err := os.Remove(largest); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(largest, data[:len(data)-4], 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNotBuilt(t *testing.T) {
	t.Chdir(t.TempDir())
	b := bench{dir: t.TempDir()}
	if err := b.load(t.Context()); !errors.Is(err, errNotBuilt) || !strings.Contains(err.Error(), "make payload") {
		t.Errorf("without bin/bake: %v", err)
	}
	// A bake that knows a component but hasn't built it must not be asked to.
	if err := os.Mkdir("bin", 0o755); err != nil {
		t.Fatal(err)
	}
	fake := "#!/bin/sh\n[ \"$1\" = list ] || { touch compiled; exit 1; }\necho '{\"items\": [{\"component\": \"kubelet\", \"state\": \"to build\"}]}'\n"
	if err := os.WriteFile("bin/bake", []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.load(t.Context()); !errors.Is(err, errNotBuilt) || !strings.Contains(err.Error(), "kubelet") {
		t.Errorf("with nothing built: %v", err)
	}
	if _, err := os.Stat("compiled"); err == nil {
		t.Error("it began to build")
	}
}
