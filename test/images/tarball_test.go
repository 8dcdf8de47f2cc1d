package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	ggcrtarball "github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

// wantTarball checks a tarball's image to the last byte, as an OCI archive and
// as docker reads it.
func wantTarball(t *testing.T, file string) v1.Hash {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-C", dir, "-xf", file).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	h, err := readLayout(dir)
	if err != nil {
		t.Fatalf("as an OCI archive: %v", err)
	}
	img, err := ggcrtarball.ImageFromPath(file, nil)
	if err != nil {
		t.Fatalf("as docker reads it: %v", err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		if err := validLayer(l); err != nil {
			t.Fatalf("as docker reads it: %v", err)
		}
	}
	return h
}

func TestWriteTarball(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out", "image.tar")
	var done, total int64
	img := payloadImage(t, 1)
	h, err := oci.WriteTarball(t.Context(), file, img, func(d, all int64) { done, total = d, all })
	if err != nil {
		t.Fatal(err)
	}
	if got := wantTarball(t, file); got != h {
		t.Errorf("digest %s, want %s", got, h)
	}
	if done == 0 || done != total {
		t.Errorf("progress %d of %d", done, total)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oci.WriteTarball(t.Context(), file, img, nil); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(file); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same image gave another tarball: %v", err)
	}
	src := open(t, file)
	if src.Digest != h {
		t.Errorf("Load gives %s, want %s", src.Digest, h)
	}
}

func TestWriteTarballOfAnIndex(t *testing.T) {
	idx, err := payload.AppendIndex(indexOf(t, map[string]v1.Image{"linux/amd64": operatorImage(t, false, linuxAMD64)}), payload.ImageOptions{}, putting(smallLayer(t, payload.Zstd), payload.ImageOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if _, err := oci.WriteTarball(t.Context(), file, idx, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil || h.Name == "manifest.json" {
			t.Fatalf("entry %v, %v: docker's format has no index", h, err)
		}
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-C", dir, "-xf", file).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	if _, err := readLayout(dir); err != nil {
		t.Error(err)
	}
}

// What a killed run left goes, but not what another run is writing, nor what
// is another target's.
func TestWriteTarballRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "image.tar")
	busy, left, other := ".image.tar"+".winbake-"+"busy", ".image.tar"+".winbake-"+"1", ".image.tar2"+".winbake-"+"1"
	for _, name := range []string{busy, left, other} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, "a"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := atomicfs.LockDir(t.Context(), filepath.Join(dir, busy))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock() //nolint:errcheck // of a test
	if _, err := oci.WriteTarball(t.Context(), file, payloadImage(t, 1), nil); err != nil {
		t.Fatal(err)
	}
	want := []string{busy + "/a", other + "/a", "image.tar"}
	slices.Sort(want)
	if got := filesOf(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

// Runs at once on one target don't take each other's work for leftovers.
func TestWriteTarballAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	img := payloadImage(t, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := oci.WriteTarball(t.Context(), file, img, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantTarball(t, file)
	if got := filesOf(t, filepath.Dir(file)); len(got) != 1 {
		t.Errorf("files %q", got)
	}
}

func TestWriteTarballReplacesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(exec.CommandContext(t.Context(), "mkfifo", at("pipe")).Run(), os.Mkdir(at("folder"), 0o755), os.WriteFile(at("file"), []byte("old"), 0o600), os.Symlink("file", at("link")), os.Symlink("none", at("nowhere")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"pipe": "it is there and isn't a regular file", "folder": "it is there and isn't a regular file", "nowhere": "it is a link that leads nowhere",
	} {
		before, err := os.Lstat(at(name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = oci.WriteTarball(t.Context(), at(name), payloadImage(t, 1), nil)
		wantFault(t, err, 1, at(name)+": "+want, "name ")
		if cerr := oci.CheckPlace(oci.KindOCIArchive, at(name)); cerr == nil || cerr.Error() != err.Error() {
			t.Errorf("%s: told beforehand: %v; then: %v", name, cerr, err)
		}
		if after, err := os.Lstat(at(name)); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s is now %v, %v", name, after, err)
		}
	}
	if got := filesOf(t, dir); !slices.Equal(got, []string{"file", "link", "nowhere", "pipe"}) {
		t.Errorf("files %q", got)
	}
	if _, err := oci.WriteTarball(t.Context(), at("link"), payloadImage(t, 1), nil); err != nil {
		t.Error(err)
	}
	wantTarball(t, at("file"))
	if info, err := os.Lstat(at("link")); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link is now %v, %v", info, err)
	}
}
