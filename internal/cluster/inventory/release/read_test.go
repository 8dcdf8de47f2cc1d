package release

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/image/oci"
)

// wantRelease reads ref and checks that it is the release of references.
func wantRelease(t *testing.T, ref string, o oci.Options) {
	t.Helper()
	p, src, err := Read(t.Context(), ref, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "4.20.3" || p.Kubernetes != "1.33.5" || !reflect.DeepEqual(p.Tags, wantTags()) {
		t.Errorf("%+v", p)
	}
	if src.Kind != "release" || src.Name != ref || src.Detail != "4.20.3, 2 images" {
		t.Errorf("source %+v", src)
	}
}

// tarFolder writes a folder as `tar -cf` does.
func tarFolder(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "image.tar"))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func dockerSave(t *testing.T, img v1.Image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	tag, err := name.NewTag("quay.io/openshift-release-dev/ocp-release:4.20.3")
	if err == nil {
		err = tarball.WriteToFile(path, tag, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadLocal(t *testing.T) {
	img := releaseOf(t)
	dir := layoutOf(t, img)
	for _, ref := range []string{
		dir, "oci:" + dir, tarFolder(t, dir), dockerSave(t, img),
		file(t, "image-references", references()), file(t, "info.json", `{"references":`+references()+`}`),
	} {
		wantRelease(t, ref, oci.Options{})
	}
}

func TestLayersDecide(t *testing.T) {
	below := layerOf(t, "release-manifests/image-references", references())
	for _, mark := range []string{".wh.release-manifests", "release-manifests/.wh.image-references", "release-manifests/.wh..wh..opq"} {
		_, _, err := Read(t.Context(), layoutOf(t, imageOfLayers(t, below, layerOf(t, mark, ""))), oci.Options{})
		wantFault(t, err, "not a release image")
	}
	newer := strings.ReplaceAll(references(), "4.20.3", "4.20.4")
	img := imageOfLayers(t, below, layerOf(t, "release-manifests/image-references", newer), layerOf(t, "etc/x", "y"))
	p, _, err := Read(t.Context(), layoutOf(t, img), oci.Options{})
	if err != nil || p.Version != "4.20.4" {
		t.Errorf("the newest layer has 4.20.4; %+v, %v", p, err)
	}
	if !strings.HasSuffix(p.At.Where, ": release-manifests/image-references") || !strings.Contains(p.At.Where, "@sha256:") {
		t.Errorf("evidence %q", p.At.Where)
	}
}

func TestReadFaults(t *testing.T) {
	img := releaseOf(t)
	fifoless := t.TempDir()
	damaged := func(change func(string)) string {
		dir := layoutOf(t, img)
		layers, err := img.Layers()
		if err != nil {
			t.Fatal(err)
		}
		h, err := layers[1].Digest()
		if err != nil {
			t.Fatal(err)
		}
		change(filepath.Join(dir, "blobs", "sha256", h.Hex))
		return dir
	}
	cut := func(p string) {
		if err := os.Truncate(p, 100); err != nil {
			t.Fatal(err)
		}
	}
	flip := func(p string) {
		b, err := os.ReadFile(p)
		if err == nil {
			b[len(b)/2] ^= 1
			err = errors.Join(os.Chmod(p, 0o600), os.WriteFile(p, b, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func(p string) {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	template := "kind: ImageStream\nspec: {tags: [{name: a, from: {kind: DockerImage, name: 'quay.io/openshift/a:latest'}}]}\n"
	indexless := layoutOf(t, img)
	remove(filepath.Join(indexless, "index.json"))
	tests := []struct {
		name, ref string
		want      []string
	}{
		{"version alone", "4.20.3", []string{"a version, where", "ocp-release:4.20.3-x86_64"}},
		{"no such file", "./missing.txt", []string{"no such file"}},
		{"mistyped file", "relase.txt", []string{"no such file"}},
		{"bad reference", "quay.io/UPPER/case:v1", []string{"not a registry reference"}},
		{"empty folder", fifoless, []string{"no OCI layout", "oc adm release info --commits"}},
		{"device", os.DevNull, []string{"neither a folder nor a regular file"}},
		{"not a release", layoutOf(t, imageOfLayers(t, layerOf(t, "a", "b"))), []string{"not a release image"}},
		{"a component's file", file(t, "image-references", template), []string{"names neither a release nor a single commit"}},
		{"cut layer", damaged(cut), []string{"skopeo copy"}},
		{"flipped bit", damaged(flip), []string{"skopeo copy"}},
		{"layer gone", damaged(remove), []string{"missing", "skopeo copy"}},
		{"layout without index", indexless, []string{"index.json", "skopeo copy"}},
		{"compressed tarball", file(t, "x.tar.gz", "\x1f\x8b\x08\x00"), []string{"x.tar.gz", "gunzip"}},
		{"large file", sparse(t, infile.Text+1), []string{"it has more than 16777216 bytes"}},
		{"large member", layoutOf(t, imageOfLayers(t, layerOf(t, "release-manifests/image-references", strings.Repeat(" ", infile.Text+1)))), []string{"a file of 16777217 bytes, the limit is", "release.txt"}},
		{"a layer that isn't a tar", layoutOf(t, imageOfLayers(t, notTar(t))), []string{"isn't a whole tar archive", "skopeo copy"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Read(t.Context(), tt.ref, oci.Options{})
			wantFault(t, err, tt.want...)
		})
	}
}

func notTar(t *testing.T) v1.Layer {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Repeat("not a tar archive ", 100))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sparse is a file of n zeros that takes no room.
func sparse(t *testing.T, n int64) string {
	t.Helper()
	path := file(t, "large", "")
	if err := os.Truncate(path, n); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnreadableFile(t *testing.T) {
	err := unreadable("x", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission})
	wantFault(t, err, "x: can't be read: permission denied")
	if !errors.Is(err, fs.ErrPermission) {
		t.Error("the cause is lost")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Read(ctx, layoutOf(t, releaseOf(t)), oci.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
