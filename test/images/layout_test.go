package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/test/support/await"
)

// payloadImage is an image that differs with its seed.
func payloadImage(t *testing.T, seed uint64) v1.Image {
	t.Helper()
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": programLike(seed, 1<<20+1<<19)})
	img, err := payload.NewImage(newTestLayer(t, tree, newMemStore(), payload.LayerOptions{}), payload.ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func writeTestLayout(t *testing.T, dir string, x oci.ImageOrIndex) v1.Hash {
	t.Helper()
	h, err := oci.WriteLayout(t.Context(), dir, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// readLayout reads a layout with go-containerregistry and checks every byte
// of its only image.
func readLayout(dir string) (v1.Hash, error) {
	idx, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return v1.Hash{}, err
	}
	m, err := idx.IndexManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	if len(m.Manifests) != 1 {
		return v1.Hash{}, fmt.Errorf("%d manifests", len(m.Manifests))
	}
	if m.Manifests[0].MediaType.IsIndex() {
		sub, err := idx.ImageIndex(m.Manifests[0].Digest)
		if err != nil {
			return v1.Hash{}, err
		}
		return m.Manifests[0].Digest, validIndex(sub)
	}
	img, err := idx.Image(m.Manifests[0].Digest)
	if err != nil {
		return v1.Hash{}, err
	}
	return m.Manifests[0].Digest, validImage(img)
}

func wantLayout(t *testing.T, dir string, want v1.Hash) {
	t.Helper()
	if got, err := readLayout(dir); err != nil || got != want {
		t.Errorf("layout of %s, %v; want %s", got, err, want)
	}
}

func filesOf(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWriteLayout(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "_output", "image")
	one, two := payloadImage(t, 1), payloadImage(t, 2)
	var done, total int64
	h, err := oci.WriteLayout(t.Context(), dir, one, func(d, all int64) { done, total = d, all })
	if err != nil {
		t.Fatal(err)
	}
	wantLayout(t, dir, h)
	if done == 0 || done != total {
		t.Errorf("progress %d of %d", done, total)
	}
	h = writeTestLayout(t, dir, two)
	wantLayout(t, dir, h)
	if got := filesOf(t, dir); len(got) != 5 { // layer, configuration, manifest, index.json, oci-layout
		t.Errorf("what was there before is still there: %q", got)
	}
	m := must(v1.ParseIndexManifest(bytes.NewReader(must(os.ReadFile(filepath.Join(dir, "index.json"))))))
	if got := m.Manifests[0].Annotations; len(got) != 1 || got["org.opencontainers.image.ref.name"] != "latest" {
		t.Errorf("index.json names the image %v", got)
	}
}

func TestWriteLayoutKeepsGoodBlobs(t *testing.T) {
	dir := t.TempDir()
	img := payloadImage(t, 1)
	writeTestLayout(t, dir, img)
	m, _ := img.Manifest()
	layer := filepath.Join(dir, filepath.FromSlash(blobIn(m.Layers[0].Digest)))
	config := filepath.Join(dir, filepath.FromSlash(blobIn(m.Config.Digest)))
	before, err := os.Stat(layer)
	if err != nil {
		t.Fatal(err)
	}
	// As long as the good one, but not it.
	if err := os.WriteFile(config, []byte(strings.Repeat("x", int(m.Config.Size))), 0o600); err != nil {
		t.Fatal(err)
	}
	wantLayout(t, dir, writeTestLayout(t, dir, img))
	after, err := os.Stat(layer)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("a good blob was written again: %v", err)
	}
}

func TestWriteLayoutOfAnIndexAndABase(t *testing.T) {
	base := indexOf(t, map[string]v1.Image{
		"linux/amd64": operatorImage(t, false, linuxAMD64), "linux/arm64": operatorImage(t, true, v1.Platform{OS: "linux", Architecture: "arm64"}),
	})
	idx, err := payload.AppendIndex(base, payload.ImageOptions{}, putting(smallLayer(t, payload.Gzip), payload.ImageOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wantLayout(t, dir, writeTestLayout(t, dir, idx))
}

func TestWriteLayoutReplacesGarbage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		harm func(dir string) error
	}{
		{"empty folder", func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)) }},
		{"truncated index", func(dir string) error { return os.Truncate(filepath.Join(dir, "index.json"), 10) }},
		{"no index", func(dir string) error { return os.Remove(filepath.Join(dir, "index.json")) }},
		{"no oci-layout", func(dir string) error { return os.Remove(filepath.Join(dir, "oci-layout")) }},
		{"no blobs", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "blobs")) }},
		{"truncated blobs", func(dir string) error {
			return filepath.WalkDir(filepath.Join(dir, "blobs"), func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				return os.Truncate(p, 7)
			})
		}},
		{"left over", func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, ".winbake-"+"1"), nil, 0o600), os.WriteFile(filepath.Join(dir, "blobs", "sha256", ".winbake-"+"2"), nil, 0o600))
		}},
		{"link for a blob", func(dir string) error {
			blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
			return errors.Join(err, os.Remove(blobs[0]), os.Symlink("/etc/passwd", blobs[0]))
		}},
	}
	img := payloadImage(t, 1)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			writeTestLayout(t, dir, img)
			if err := tt.harm(dir); err != nil {
				t.Fatal(err)
			}
			wantLayout(t, dir, writeTestLayout(t, dir, img))
			if got := filesOf(t, dir); len(got) != 5 {
				t.Errorf("files %q", got)
			}
		})
	}
}

func TestWriteLayoutRefuses(t *testing.T) {
	img := payloadImage(t, 1)
	somebodys := t.TempDir()
	if err := os.WriteFile(filepath.Join(somebodys, "main.go"), []byte("package main"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := oci.WriteLayout(t.Context(), somebodys, img, nil)
	wantFault(t, err, 1, "isn't an OCI image layout: it holds main.go", somebodys)
	if got := filesOf(t, somebodys); !slices.Equal(got, []string{"main.go"}) {
		t.Errorf("files %q", got)
	}
	file := filepath.Join(somebodys, "main.go")
	_, err = oci.WriteLayout(t.Context(), file, img, nil)
	wantFault(t, err, 1, "can't be written", file)
}

func TestWriteLayoutEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	h := writeTestLayout(t, dir, payloadImage(t, 1))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := oci.WriteLayout(ctx, dir, payloadImage(t, 2), func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	wantLayout(t, dir, h)
	for _, f := range filesOf(t, dir) {
		if strings.Contains(f, ".winbake-") {
			t.Errorf("%s was left", f)
		}
	}
}

// TestUnfinishedLayout: a first run that ends early leaves no half image, and takes
// nothing of anybody else's with it.
func TestUnfinishedLayout(t *testing.T) {
	killed := "blobs/sha256/" + strings.Repeat("a", 64)
	for name, c := range map[string]struct {
		before, meanwhile string // files, and a folder by / at its end
		want              string // "" if there is no folder any more
	}{
		"a new folder":            {"", "", ""},
		"an empty folder":         {"image/", "", "image/"},
		"a file put in meanwhile": {"", "image/mine", "image/mine"},
		"a blob of somebody's":    {"", "image/blobs/sha256/mine", "image/blobs/sha256/mine"},
		"what a killed run left":  {"image/" + killed, "", "image/" + killed},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			put := func(name string) error {
				if strings.HasSuffix(name, "/") || name == "" {
					return os.MkdirAll(filepath.Join(top, name), 0o755)
				}
				return errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755), os.WriteFile(filepath.Join(top, name), nil, 0o600))
			}
			ctx, cancel := context.WithCancel(t.Context())
			err := put(c.before)
			_, werr := oci.WriteLayout(ctx, filepath.Join(top, "image"), payloadImage(t, 1), func(int64, int64) {
				if ctx.Err() == nil {
					err = errors.Join(err, put(c.meanwhile))
				}
				cancel()
			})
			if err != nil || !errors.Is(werr, context.Canceled) {
				t.Fatalf("errors %v, %v", err, werr)
			}
			if _, err := os.Stat(filepath.Join(top, c.want)); err != nil || c.want == "" && len(must(os.ReadDir(top))) > 0 {
				t.Errorf("have %q, %v; want %q", filesOf(t, top), err, c.want)
			}
			if got := filesOf(t, top); c.before == "" && c.meanwhile == "" && len(got) > 0 {
				t.Errorf("left: %q", got)
			}
		})
	}
}

// TestLayoutWithoutIndex: nor does one that ends at its last file.
func TestLayoutWithoutIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	var merr error
	_, err := oci.WriteLayout(t.Context(), dir, payloadImage(t, 1), func(done, total int64) {
		if done == total {
			merr = os.MkdirAll(filepath.Join(dir, "index.json"), 0o755)
		}
	})
	if merr != nil || err == nil {
		t.Fatalf("errors %v, %v", merr, err)
	}
	if got := filesOf(t, dir); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}

// TestUnfinishedLayoutOfTwo: the run that waits writes its image where the first one
// has taken the folder away.
func TestUnfinishedLayoutOfTwo(t *testing.T) {
	for range 20 {
		dir := filepath.Join(t.TempDir(), "image")
		ctx, cancel := context.WithCancel(t.Context())
		other := make(chan error, 1)
		img := payloadImage(t, 2)
		_, err := oci.WriteLayout(ctx, dir, payloadImage(t, 1), func(int64, int64) {
			if ctx.Err() == nil {
				go func() {
					_, err := oci.WriteLayout(t.Context(), dir, img, nil)
					other <- err
				}()
				time.Sleep(time.Millisecond)
			}
			cancel()
		})
		if oerr := <-other; oerr != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("errors %v, %v", err, oerr)
		}
		wantLayout(t, dir, must(img.Digest()))
	}
}

func TestWriteLayoutRefusesOtherBytes(t *testing.T) {
	// Its layer's manifest entry names another digest than the layer's bytes.
	good, bad := operatorImage(t, false, linuxAMD64), layerOf(t, item{name: "x"})
	m, _ := good.Manifest()
	config, _ := good.RawConfigFile()
	img, err := oci.NewImage(m.DeepCopy(), config, []v1.Layer{bad, bad})
	if err != nil {
		t.Fatal(err)
	}
	_, err = oci.WriteLayout(t.Context(), t.TempDir(), img, nil)
	checkText(t, err, []string{"another digest"})
}

func TestConcurrentLayouts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	images := []v1.Image{payloadImage(t, 1), payloadImage(t, 2), payloadImage(t, 3)}
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() {
			if _, err := oci.WriteLayout(t.Context(), dir, images[i%3], nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := readLayout(dir); err != nil {
		t.Error(err)
	}
	if got := filesOf(t, dir); len(got) != 5 {
		t.Errorf("files %q", got)
	}
}

func TestLockEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	unlock, err := atomicfs.LockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := atomicfs.LockDir(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	again, err := atomicfs.LockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

// killEnv makes this test program write images until it is killed.
const killEnv = "WINBAKE_TEST_WRITE_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killEnv); dir != "" {
		writeUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// writeUntilKilled replaces a layout, a tarball and a folder over and over, by
// two images in turn.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	store := newMemStore()
	trees, images := make([]*payload.Tree, 2), make([]v1.Image, 2)
	for i := range images {
		trees[i], _ = treeOf(payload.Flat, map[string]string{"a.exe": programLike(uint64(i), 1<<19), "b.exe": programLike(7, 1<<19)})
		l, err := payload.NewLayer(ctx, trees[i], store, payload.LayerOptions{})
		if err != nil {
			panic(err)
		}
		if images[i], err = payload.NewImage(l, payload.ImageOptions{}); err != nil {
			panic(err)
		}
	}
	for i := 0; ; i = 1 - i {
		_, lerr := oci.WriteLayout(ctx, filepath.Join(dir, "layout"), images[i], nil)
		_, terr := oci.WriteTarball(ctx, filepath.Join(dir, "image.tar"), images[i], nil)
		derr := payload.WriteDir(ctx, filepath.Join(dir, "payload"), trees[i], payload.DirOptions{Extras: []payload.File{extraFile(payload.ExpectationName, fmt.Sprint(i))}})
		if err := errors.Join(lerr, terr, derr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// A kill at any time leaves the old image or the new one, whole.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	layoutDir, tarball, tree := filepath.Join(dir, "layout"), filepath.Join(dir, "image.tar"), filepath.Join(dir, "payload")
	for range 12 {
		killWriter(t, dir)
		if _, err := readLayout(layoutDir); err != nil {
			t.Fatalf("layout after a kill: %v", err)
		}
		wantTarball(t, tarball)
		wantTree(t, tree)
	}
	img := payloadImage(t, 1)
	wantLayout(t, layoutDir, writeTestLayout(t, layoutDir, img))
	if got := filesOf(t, layoutDir); len(got) != 5 {
		t.Errorf("files %q", got)
	}
}

// killWriter runs a writer until it has written everything once, and then for
// a random time.
func killWriter(t *testing.T, dir string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), killEnv+"="+dir), &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the writer has written everything once", func() bool {
		_, err := os.Stat(filepath.Join(dir, "payload"))
		return err == nil
	})
	time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the writer ended by itself: %v\n%s", err, stderr.String())
	}
}

// wantTree checks a folder that writeUntilKilled wrote, and what is beside it: each is
// whole, and of the same image unless the kill was right between the two.
func wantTree(t *testing.T, dir string) {
	t.Helper()
	node, err := os.ReadFile(filepath.Join(payload.ExtrasDir(dir), payload.ExpectationName))
	if err != nil {
		t.Fatal(err)
	}
	if of := string(node); of != "0" && of != "1" {
		t.Fatalf("node.json after a kill: %q", of)
	}
	first, err := os.ReadFile(filepath.Join(dir, "a.exe"))
	if err != nil {
		t.Fatal(err)
	}
	of := uint64(0)
	if string(first) != programLike(0, 1<<19) {
		of = 1
	}
	for name, want := range map[string]string{"a.exe": programLike(of, 1<<19), "b.exe": programLike(7, 1<<19)} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Fatalf("%s after a kill isn't that of node.json's image %d: %d bytes, %v", name, of, len(got), err)
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	idx := mutate.IndexMediaType(empty.Index, "application/vnd.oci.image.index.v1+json")
	dir := t.TempDir()
	wantLayout(t, dir, writeTestLayout(t, dir, idx))
}
