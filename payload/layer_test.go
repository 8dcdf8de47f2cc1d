package payload

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func newTestLayer(t *testing.T, tree *Tree, store Store, o LayerOptions) *Layer {
	t.Helper()
	l, err := NewLayer(t.Context(), tree, store, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// listing shows a layer's tar, one line an entry.
func listing(t *testing.T, l *Layer) string {
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
		format  Format
		removes []string
		want    string
	}{
		{Flat, nil, `drwxr-xr-x 0:0 1970-01-01 USTAR payload/
drwxr-xr-x 0:0 1970-01-01 USTAR payload/cni/
drwxr-xr-x 0:0 1970-01-01 USTAR payload/cni-a/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni-a/x.ps1
-rw-r--r-- 0:0 1970-01-01 USTAR payload/cni/host-local.exe
drwxr-xr-x 0:0 1970-01-01 USTAR payload/csi-proxy/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/csi-proxy/csi-proxy.exe
drwxrwxrwx 0:0 1970-01-01 USTAR payload/generated/
-rw-r--r-- 0:0 1970-01-01 USTAR payload/hybrid.exe
`},
		{Archived, []string{
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
		if got := listing(t, newTestLayer(t, tree, newMemStore(), LayerOptions{Removes: tt.removes})); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.format, got, tt.want)
		}
	}
}

func TestLayerNeedsPAXForLongNamesOnly(t *testing.T) {
	tree, _ := treeOf(Flat, map[string]string{"short.exe": "", strings.Repeat("deep/", 60) + "long.exe": "", "ü.exe": ""})
	got := listing(t, newTestLayer(t, tree, newMemStore(), LayerOptions{}))
	for _, want := range []string{"USTAR payload/short.exe", "PAX payload/ü.exe", "deep/long.exe"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func codecs() []Codec {
	return []Codec{DefaultCodec(Flat), DefaultCodec(Archived), {Name: Zstd, Level: 1}}
}

func TestLayerIsValid(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{Flat, Archived} {
		for _, codec := range codecs() {
			tree, _ := treeOf(format, sampleFiles())
			l := newTestLayer(t, tree, newMemStore(), LayerOptions{Codec: codec})
			if err := validLayer(l); err != nil {
				t.Errorf("%s %s: %v", format, codec.ID(), err)
			}
		}
	}
}

// The point of the whole package: same files, same bytes.
func TestLayerIsReproducible(t *testing.T) {
	for _, format := range []Format{Flat, Archived} {
		for _, codec := range codecs() {
			tree, _ := treeOf(format, sampleFiles())
			want, _ := newTestLayer(t, tree, newMemStore(), LayerOptions{Codec: codec}).Digest()
			for _, procs := range []int{1, 2, 4} {
				old := runtime.GOMAXPROCS(procs)
				got, _ := newTestLayer(t, shuffled(tree), newMemStore(), LayerOptions{Codec: codec}).Digest()
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
		format Format
		codec  Codec
		diffID string
	}{
		{Flat, Codec{Gzip, 3}, "sha256:ec7be1befe97201f56bad59ae93f9cef16d9cedd9b01a531a24d0090de1a54a1"},
		{Archived, Codec{Gzip, 0}, "sha256:66eaa2a139ee3d22b129981554d3e612f40e7f059af1f9a6d800f5030b6df452"},
	}
	for _, tt := range tests {
		tree, _ := treeOf(tt.format, files)
		l := newTestLayer(t, tree, newMemStore(), LayerOptions{Codec: tt.codec})
		if d, _ := l.DiffID(); d.String() != tt.diffID {
			t.Errorf("%s: diff id %s, want %s", tt.format, d, tt.diffID)
		}
	}
}

func TestLayerCache(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{Flat, Archived} {
		store := newMemStore()
		tree, opens := treeOf(format, sampleFiles())
		first := newTestLayer(t, tree, store, LayerOptions{})
		if first.Cached() {
			t.Errorf("%s: an empty store knew the layer", format)
		}
		store.taken()
		opens.Store(0)
		var done, total int64
		again := newTestLayer(t, shuffled(tree), store, LayerOptions{Progress: func(d, all int64) { done, total = d, all }})
		if !again.Cached() || opens.Load() != 0 || store.taken() != 0 {
			t.Errorf("%s: not cached: %d files opened", format, opens.Load())
		}
		if done != tree.Size() || total != tree.Size() {
			t.Errorf("%s: progress %d of %d, want %d", format, done, total, tree.Size())
		}
		if first.digest != again.digest || first.diffID != again.diffID || first.size != again.size {
			t.Errorf("%s: the store gave another layer", format)
		}
		newTestLayer(t, tree, store, LayerOptions{Removes: []string{"payload/old.exe"}})
		if format == Archived && (opens.Load() != 0 || store.taken() != 1) {
			t.Errorf("another layer of the same files opened %d of them", opens.Load())
		}
		more := &Tree{Format: format, Files: tree.Files, Kept: []KeptFile{{Path: "kept.exe", SHA256: sumOf("kept")}}}
		if got := newTestLayer(t, more, store, LayerOptions{}); (got.digest == first.digest) != (format == Flat) {
			t.Errorf("%s: with a kept file the layer is %s, alone %s", format, got.digest, first.digest)
		}
	}
}

func TestOneChangedFileCostsOneMember(t *testing.T) {
	t.Parallel()
	store := newMemStore()
	files := sampleFiles()
	tree, _ := treeOf(Archived, files)
	newTestLayer(t, tree, store, LayerOptions{})
	if n := store.taken(); n != len(files)+1 {
		t.Errorf("%d blobs made for %d files", n, len(files))
	}
	files["cni/host-local.exe"] += "changed"
	tree, opens := treeOf(Archived, files)
	newTestLayer(t, tree, store, LayerOptions{})
	if n := store.taken(); n != 2 || opens.Load() != 1 {
		t.Errorf("%d blobs made and %d files opened, want 2 and 1", n, opens.Load())
	}
}

func TestLayerRefusesOtherContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		wrong func(*File)
		want  string
	}{
		{"other bytes", func(f *File) { f.SHA256 = strings.Repeat("0", 64) }, "its sha256 is"},
		{"shorter", func(f *File) { f.Size++ }, "bytes instead of"},
		{"longer", func(f *File) { f.Size-- }, "longer than"},
		{"gone", func(f *File) { f.Open = func() (io.ReadCloser, error) { return nil, os.ErrNotExist } }, "file does not exist"},
		{"broken", func(f *File) {
			f.Open = func() (io.ReadCloser, error) { return io.NopCloser(iotestErr{errFull}), nil }
		}, "disk full"},
	}
	for _, format := range []Format{Flat, Archived} {
		for _, tt := range tests {
			tree, _ := treeOf(format, sampleFiles())
			tree.Files = tree.Sorted()
			tt.wrong(&tree.Files[4])
			store := newMemStore()
			_, err := NewLayer(t.Context(), tree, store, LayerOptions{})
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
	for _, format := range []Format{Flat, Archived} {
		tree, _ := treeOf(format, sampleFiles())
		want := newTestLayer(t, tree, newMemStore(), LayerOptions{}).digest
		for i := range tree.Files {
			tree.Files[i].Verified = true
		}
		if got := newTestLayer(t, tree, newMemStore(), LayerOptions{}).digest; got != want {
			t.Errorf("%s: digest %s, want %s", format, got, want)
		}
		body := strings.Repeat("x", int(tree.Files[0].Size))
		tree.Files[0].Open = func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(body), iotestErr{errDamaged})), nil
		}
		if _, err := NewLayer(t.Context(), tree, newMemStore(), LayerOptions{}); !errors.Is(err, errDamaged) {
			t.Errorf("%s: error %v, want %v", format, err, errDamaged)
		}
		tree.Files[0].Size++
		_, err := NewLayer(t.Context(), tree, newMemStore(), LayerOptions{})
		checkText(t, err, []string{tree.Files[0].Path})
	}
}

func TestLayerReportsTheStore(t *testing.T) {
	for _, format := range []Format{Flat, Archived} {
		tree, _ := treeOf(format, sampleFiles())
		store := newMemStore()
		store.full = errFull
		if _, err := NewLayer(t.Context(), tree, store, LayerOptions{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", format, err, errFull)
		}
	}
}

func TestLayerEndsWithItsContext(t *testing.T) {
	for _, format := range []Format{Flat, Archived} {
		ctx, cancel := context.WithCancel(t.Context())
		tree, _ := treeOf(format, sampleFiles())
		store := newMemStore()
		_, err := NewLayer(ctx, tree, store, LayerOptions{Progress: func(int64, int64) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestDamagedMemberIsMadeAgain(t *testing.T) {
	t.Parallel()
	store := newMemStore()
	tree, opens := treeOf(Archived, sampleFiles())
	want := newTestLayer(t, tree, store, LayerOptions{}).digest
	for _, f := range tree.Sorted()[:3] {
		var m member
		if ok, err := store.Lookup(memberKey(f), &m); !ok || err != nil {
			t.Fatal(ok, err)
		}
		store.damage(t, m.Digest)
	}
	delete(store.blobs, want.String())
	opens.Store(0)
	if got := newTestLayer(t, tree, store, LayerOptions{}).digest; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if opens.Load() != 3 {
		t.Errorf("%d files opened, want the 3 of the damaged members", opens.Load())
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	store := newMemStore()
	tree, _ := treeOf(Flat, sampleFiles())
	l := newTestLayer(t, tree, store, LayerOptions{})
	if did, err := l.repair(t.Context()); did || err != nil {
		t.Errorf("repair of what is whole = %v, %v", did, err)
	}
	store.damage(t, l.digest.String())
	if did, err := l.repair(t.Context()); !did || err != nil {
		t.Errorf("repair of a damaged layer = %v, %v", did, err)
	}
	if err := validLayer(l); err != nil {
		t.Error(err)
	}
}

// Operators and people unpack with other tools than Go's.
func TestStandardToolsReadTheLayer(t *testing.T) {
	t.Parallel()
	for _, codec := range codecs() {
		tree, _ := treeOf(Archived, sampleFiles())
		l := newTestLayer(t, tree, newMemStore(), LayerOptions{Codec: codec})
		dir := t.TempDir()
		blob := filepath.Join(dir, "layer")
		rc, err := l.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(blob, b, 0o600); err != nil {
			t.Fatal(err)
		}
		script := `set -e
TOOL -dc < layer | tar --no-same-owner -xf -
cd payload
find . -name '*.gz' | while read f; do gzip -t "$f"; tar -C "$(dirname "$f")" -xzf "$f"; done
sha256sum --quiet --strict -c sha256sum
stat -c '%a %n' . generated cni/host-local.exe`
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(script, "TOOL", codec.Name))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if want := "755 .\n777 generated\n644 cni/host-local.exe\n"; err != nil || !strings.HasSuffix(string(out), want) {
			t.Errorf("%s: %v\n%s", codec.ID(), err, out)
		}
		if !bytes.Contains(b[:4], []byte{0x1f, 0x8b}) && codec.Name == Gzip {
			t.Errorf("%s: not a gzip header: % x", codec.ID(), b[:10])
		}
	}
}
