//go:build operator

package realoperator

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// unpack writes the files of the one image of an OCI layout below root, as a
// container of that image has them.
func unpack(t *testing.T, image string, root *os.Root) {
	t.Helper()
	files := mutate.Extract(onlyImage(t, image))
	defer files.Close()
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = write(root, h, r)
		}
		if err != nil {
			t.Fatalf("unpack %s: %v", image, err)
		}
	}
}

func onlyImage(t *testing.T, image string) v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(image)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("%s has %d images, want one", image, len(manifest.Manifests))
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func write(root *os.Root, h *tar.Header, content io.Reader) error {
	name, mode := path.Clean(strings.TrimLeft(h.Name, "/")), h.FileInfo().Mode().Perm()
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return errors.Join(root.MkdirAll(name, 0o755), root.Chmod(name, mode)) // umask
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		return root.Link(path.Clean(strings.TrimLeft(h.Linkname, "/")), name)
	case tar.TypeReg:
		f, err := root.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close(), root.Chmod(name, mode))
	default:
		return nil // devices, which the operator has no use for
	}
}

// copyFile copies a program or a file that the operator reads into root.
func copyFile(t *testing.T, from string, root *os.Root, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = root.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
