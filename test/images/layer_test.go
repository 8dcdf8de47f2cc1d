package images

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

func newTestLayer(t *testing.T, tree *payload.Tree, store payload.Store, o payload.LayerOptions) *payload.Layer {
	t.Helper()
	l, err := payload.NewLayer(t.Context(), tree, store, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// listing shows a layer's tar, one line an entry.
func listing(t *testing.T, l *payload.Layer) string {
	t.Helper()
	rc, err := l.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	var b strings.Builder
	tr := tar.NewReader(rc)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d:%d%s %s %s %s\n", h.FileInfo().Mode(), h.Uid, h.Gid, h.Uname+h.Gname, h.ModTime.UTC().Format("2006-01-02"), h.Format, h.Name)
	}
}

func TestLayerLayout(t *testing.T) {
	files := map[string]string{"csi-proxy/csi-proxy.exe": "exe", "cni/host-local.exe": "", "cni-a/x.ps1": "x", "hybrid.exe": "h"}
	tests := []struct {
		format  payload.Format
		removes []string
		want    string
	}{
		{payload.Flat, nil, `drwxr-xr-x 0:0 1970-01-01 USTAR payload/
drwxr-xr-x 0:0 1970-01-01 USTAR payload/cni/
drwxr-xr-x 0:0 1970-01-01 USTAR payload/cni-a/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni-a/x.ps1
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni/host-local.exe
drwxr-xr-x 0:0 1970-01-01 USTAR payload/csi-proxy/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/csi-proxy/csi-proxy.exe
drwxrwxrwx 0:0 1970-01-01 USTAR payload/generated/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/hybrid.exe
`},
		{payload.Archived, []string{
			"payload/cni/host-local.exe.tar.gz", "payload/sha256sum", // brought
			"payload/cni", "payload/hybrid.exe.tar.gz/x", // hidden by a folder, and by a file
			"payload/cni/flannel.exe", "payload/hybrid.exe", "payload/old/a.exe", "payload/generated/a.ps1", "winbake/node.json",
		}, `drwxr-xr-x 0:0 1970-01-01 USTAR payload/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/.wh.hybrid.exe
drwxr-xr-x 0:0 1970-01-01 USTAR payload/cni/
drwxr-xr-x 0:0 1970-01-01 USTAR payload/cni-a/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni-a/x.ps1.tar.gz
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni/.wh.flannel.exe
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni/host-local.exe.tar.gz
drwxr-xr-x 0:0 1970-01-01 USTAR payload/csi-proxy/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/csi-proxy/csi-proxy.exe.tar.gz
drwxrwxrwx 0:0 1970-01-01 USTAR payload/generated/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/generated/.wh.a.ps1
-rw-r--r-- 0:0 1970-01-01 USTAR payload/hybrid.exe.tar.gz
drwxr-xr-x 0:0 1970-01-01 USTAR payload/old/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/old/.wh.a.exe
-rw-r--r-- 0:0 1970-01-01 USTAR payload/sha256sum
drwxr-xr-x 0:0 1970-01-01 USTAR winbake/
-rw-r--r-- 0:0 1970-01-01 USTAR winbake/.wh.node.json
`},
	}
	for _, tt := range tests {
		tree, _ := treeOf(tt.format, files)
		if got := listing(t, newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Removes: tt.removes})); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.format, got, tt.want)
		}
	}
}

func TestLayerNeedsPAXForLongNamesOnly(t *testing.T) {
	tree, _ := treeOf(payload.Flat, map[string]string{"short.exe": "", strings.Repeat("deep/", 60) + "long.exe": "", "ü.exe": ""})
	got := listing(t, newTestLayer(t, tree, newMemStore(), payload.LayerOptions{}))
	for _, want := range []string{"USTAR payload/short.exe", "PAX payload/ü.exe", "deep/long.exe"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func codecs() []payload.Codec {
	return []payload.Codec{payload.DefaultCodec(payload.Flat), payload.DefaultCodec(payload.Archived), {Name: payload.Zstd, Level: 1}}
}

func TestLayerIsValid(t *testing.T) {
	t.Parallel()
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		for _, codec := range codecs() {
			tree, _ := treeOf(format, sampleFiles())
			l := newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Codec: codec})
			if err := validLayer(l); err != nil {
				t.Errorf("%s %s: %v", format, codec.ID(), err)
			}
		}
	}
}

// The point of the whole package: same files, same bytes.
func TestLayerIsReproducible(t *testing.T) {
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		for _, codec := range codecs() {
			tree, _ := treeOf(format, sampleFiles())
			want, _ := newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Codec: codec}).Digest()
			for _, procs := range []int{1, 2, 4} {
				old := runtime.GOMAXPROCS(procs)
				got, _ := newTestLayer(t, shuffled(tree), newMemStore(), payload.LayerOptions{Codec: codec}).Digest()
				runtime.GOMAXPROCS(old)
				if got != want {
					t.Errorf("%s %s: digest %s with GOMAXPROCS %d, else %s", format, codec.ID(), got, procs, want)
				}
			}
		}
	}
}

// Digests that changed by accident change every user's image: a new one here
// must come with a raised tarVersion or another compressor.
func TestLayerDigestIsStable(t *testing.T) {
	files := map[string]string{"a/b.exe": strings.Repeat("winbake ", 1000), "c.ps1": "exit 0\r\n"}
	tests := []struct {
		format payload.Format
		codec  payload.Codec
		diffID string
	}{
		{payload.Flat, payload.Codec{Name: payload.Gzip, Level: 3}, "sha256:ec7be1befe97201f56bad59ae93f9cef16d9cedd9b01a531a24d0090de1a54a1"},
		{payload.Archived, payload.Codec{Name: payload.Gzip, Level: 0}, "sha256:66eaa2a139ee3d22b129981554d3e612f40e7f059af1f9a6d800f5030b6df452"},
	}
	for _, tt := range tests {
		tree, _ := treeOf(tt.format, files)
		l := newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Codec: tt.codec})
		if d, _ := l.DiffID(); d.String() != tt.diffID {
			t.Errorf("%s: diff id %s, want %s", tt.format, d, tt.diffID)
		}
	}
}

func TestLayerCache(t *testing.T) {
	t.Parallel()
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		store := newMemStore()
		tree, opens := treeOf(format, sampleFiles())
		first := newTestLayer(t, tree, store, payload.LayerOptions{})
		if first.Cached() {
			t.Errorf("%s: an empty store knew the layer", format)
		}
		store.taken()
		opens.Store(0)
		var done, total int64
		again := newTestLayer(t, shuffled(tree), store, payload.LayerOptions{Progress: func(d, all int64) { done, total = d, all }})
		if !again.Cached() || opens.Load() != 0 || store.taken() != 0 {
			t.Errorf("%s: not cached: %d files opened", format, opens.Load())
		}
		if done != tree.Size() || total != tree.Size() {
			t.Errorf("%s: progress %d of %d, want %d", format, done, total, tree.Size())
		}
		if layerDigest(first) != layerDigest(again) || diffOf(first) != diffOf(again) || must(first.Size()) != must(again.Size()) {
			t.Errorf("%s: the store gave another layer", format)
		}
		newTestLayer(t, tree, store, payload.LayerOptions{Removes: []string{"payload/old.exe"}})
		if format == payload.Archived && (opens.Load() != 0 || store.taken() != 1) {
			t.Errorf("another layer of the same files opened %d of them", opens.Load())
		}
		more := &payload.Tree{Format: format, Files: tree.Files, Kept: []payload.KeptFile{{Path: "kept.exe", SHA256: sumOf("kept")}}}
		if got := newTestLayer(t, more, store, payload.LayerOptions{}); (layerDigest(got) == layerDigest(first)) != (format == payload.Flat) {
			t.Errorf("%s: with a kept file the layer is %s, alone %s", format, layerDigest(got), layerDigest(first))
		}
	}
}

func TestOneChangedFileCostsOneMember(t *testing.T) {
	t.Parallel()
	store := newMemStore()
	files := sampleFiles()
	tree, _ := treeOf(payload.Archived, files)
	newTestLayer(t, tree, store, payload.LayerOptions{})
	if n := store.taken(); n != len(files)+1 {
		t.Errorf("%d blobs made for %d files", n, len(files))
	}
	files["cni/host-local.exe"] += "changed"
	tree, opens := treeOf(payload.Archived, files)
	newTestLayer(t, tree, store, payload.LayerOptions{})
	if n := store.taken(); n != 2 || opens.Load() != 1 {
		t.Errorf("%d blobs made and %d files opened, want 2 and 1", n, opens.Load())
	}
}

func TestLayerRefusesOtherContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		wrong func(*payload.File)
		want  string
	}{
		{"other bytes", func(f *payload.File) { f.SHA256 = strings.Repeat("0", 64) }, "its sha256 is"},
		{"shorter", func(f *payload.File) { f.Size++ }, "bytes instead of"},
		{"longer", func(f *payload.File) { f.Size-- }, "longer than"},
		{"gone", func(f *payload.File) { f.Open = func() (io.ReadCloser, error) { return nil, os.ErrNotExist } }, "file does not exist"},
		{"broken", func(f *payload.File) {
			f.Open = func() (io.ReadCloser, error) { return io.NopCloser(iotestErr{errFull}), nil }
		}, "disk full"},
	}
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		for _, tt := range tests {
			tree, _ := treeOf(format, sampleFiles())
			tree.Files = tree.Sorted()
			tt.wrong(&tree.Files[4])
			store := newMemStore()
			_, err := payload.NewLayer(t.Context(), tree, store, payload.LayerOptions{})
			checkText(t, err, []string{tt.want, tree.Files[4].Path})
			if len(store.records) > len(tree.Files)-1 {
				t.Errorf("%s %s: the wrong file was recorded", format, tt.name)
			}
		}
	}
}

// A reader that verifies itself is believed; its errors aren't lost.
func TestLayerOfVerifiedFiles(t *testing.T) {
	t.Parallel()
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		tree, _ := treeOf(format, sampleFiles())
		want := layerDigest(newTestLayer(t, tree, newMemStore(), payload.LayerOptions{}))
		for i := range tree.Files {
			tree.Files[i].Verified = true
		}
		if got := layerDigest(newTestLayer(t, tree, newMemStore(), payload.LayerOptions{})); got != want {
			t.Errorf("%s: digest %s, want %s", format, got, want)
		}
		body := strings.Repeat("x", int(tree.Files[0].Size))
		tree.Files[0].Open = func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(body), iotestErr{errDamaged})), nil
		}
		if _, err := payload.NewLayer(t.Context(), tree, newMemStore(), payload.LayerOptions{}); !errors.Is(err, errDamaged) {
			t.Errorf("%s: error %v, want %v", format, err, errDamaged)
		}
		tree.Files[0].Size++
		_, err := payload.NewLayer(t.Context(), tree, newMemStore(), payload.LayerOptions{})
		checkText(t, err, []string{tree.Files[0].Path})
	}
}

func TestLayerReportsTheStore(t *testing.T) {
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		tree, _ := treeOf(format, sampleFiles())
		store := newMemStore()
		store.full = errFull
		if _, err := payload.NewLayer(t.Context(), tree, store, payload.LayerOptions{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", format, err, errFull)
		}
	}
}

func TestLayerEndsWithItsContext(t *testing.T) {
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		ctx, cancel := context.WithCancel(t.Context())
		tree, _ := treeOf(format, sampleFiles())
		store := newMemStore()
		_, err := payload.NewLayer(ctx, tree, store, payload.LayerOptions{Progress: func(int64, int64) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// Whatever the store has damaged is told once, and gone then: the same work done
// again makes it again.
func TestDamagedStore(t *testing.T) {
	reg := newRegistry(t, nil)
	for _, blob := range []string{"layer", "member"} {
		for name, write := range map[string]func(dir string, tree *payload.Tree, img v1.Image, s payload.Store) error{
			"layout": func(dir string, _ *payload.Tree, img v1.Image, _ payload.Store) error {
				_, err := oci.WriteLayout(t.Context(), dir, img, nil)
				return err
			},
			"tarball": func(dir string, _ *payload.Tree, img v1.Image, _ payload.Store) error {
				_, err := oci.WriteTarball(t.Context(), dir+"/f", img, nil)
				return err
			},
			"push": func(_ string, _ *payload.Tree, img v1.Image, _ payload.Store) error {
				_, err := oci.Push(t.Context(), reg.host+"/p:"+blob, img, oci.Options{})
				return err
			},
			"dir": func(dir string, tree *payload.Tree, _ v1.Image, s payload.Store) error {
				return payload.WriteDir(t.Context(), dir+"/d", tree, payload.DirOptions{Store: s})
			},
		} {
			store := newMemStore()
			tree, _ := treeOf(payload.Archived, sampleFiles())
			dir := t.TempDir()
			run := func() (string, error) {
				l, err := payload.NewLayer(t.Context(), tree, store, payload.LayerOptions{})
				if err != nil {
					return "", err
				}
				img, err := payload.NewImage(l, payload.ImageOptions{})
				if err != nil {
					return "", err
				}
				return layerDigest(l).String(), write(dir, tree, img, store)
			}
			l := newTestLayer(t, tree, store, payload.LayerOptions{})
			if blob == "member" {
				delete(store.blobs, layerDigest(l).String()) // what is left are the members
				for d := range store.blobs {
					store.damage(t, d)
					break
				}
			} else {
				store.damage(t, layerDigest(l).String())
			}
			_, err := run()
			if used := name != "dir" || blob == "member"; used && !errors.Is(err, errDamaged) {
				t.Errorf("%s with a damaged %s: %v", name, blob, err)
			}
			if got, err := run(); err != nil || got != layerDigest(l).String() {
				t.Errorf("%s after a damaged %s: %s, %v", name, blob, got, err)
			}
		}
	}
}

func layerDigest(l v1.Layer) v1.Hash { return must(l.Digest()) }

func diffOf(l v1.Layer) v1.Hash { return must(l.DiffID()) }
