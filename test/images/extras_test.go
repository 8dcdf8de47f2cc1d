package images

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

func extraFile(name, content string) payload.File {
	return payload.File{Path: name, SHA256: sumOf(content), Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(content))), nil
	}}
}

// withExtras is an image of a payload, and of the same with extras on top.
func withExtras(t *testing.T, files ...payload.File) (plain, both v1.Image) {
	t.Helper()
	store := newMemStore()
	layer, err := payload.NewLayer(t.Context(), &payload.Tree{Format: payload.Flat, Files: []payload.File{extraFile("csi-proxy/csi-proxy.exe", "MZ")}}, store, payload.LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if plain, err = payload.NewImage(layer, payload.ImageOptions{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	extras, err := payload.NewExtras(t.Context(), files, store, payload.LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if both, err = payload.Append(plain, extras, payload.ImageOptions{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	return plain, both
}

func openLayout(t *testing.T, img v1.Image) *oci.Source {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	if _, err := oci.WriteLayout(t.Context(), dir, img, nil); err != nil {
		t.Fatal(err)
	}
	s, err := oci.Load(t.Context(), dir, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestExtrasRoundTrip(t *testing.T) {
	plain, both := withExtras(t, extraFile(payload.ExpectationName, "{}"), extraFile(payload.VerifyName, "MZ2"))
	s := openLayout(t, both)
	x, err := verify.ReadExtras(t.Context(), s)
	if err != nil || string(x.Expectation) != "{}" || string(x.Verify) != "MZ2" {
		t.Fatalf("%+v, %v", x, err)
	}
	if problems, _, err := verify.Check(t.Context(), s, verify.Options{}); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	a, err := plain.Layers()
	if err != nil {
		t.Fatal(err)
	}
	b, err := both.Layers()
	if err != nil {
		t.Fatal(err)
	}
	da, _ := a[0].Digest()
	if db, _ := b[0].Digest(); len(b) != 2 || da != db {
		t.Errorf("the payload's layer is another one with extras: %s, %s", da, db)
	}
	if x, err := verify.ReadExtras(t.Context(), openLayout(t, plain)); err != nil || x.Expectation != nil || x.Verify != nil {
		t.Errorf("an image without extras has %+v, %v", x, err)
	}
}

func TestExtrasDir(t *testing.T) {
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": "a"})
	dir := filepath.Join(t.TempDir(), "out")
	for _, content := range []string{"{}", `{"a":1}`} {
		if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{Extras: []payload.File{extraFile(payload.ExpectationName, content)}}); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(payload.ExtrasDir(dir), payload.ExpectationName)); err != nil || string(data) != content {
			t.Errorf("%q, %v", data, err)
		}
	}
	if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(payload.ExtrasDir(dir)); err == nil {
		t.Error("what an earlier run wrote is still there")
	}
	if err := os.MkdirAll(payload.ExtrasDir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(payload.ExtrasDir(dir), "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]payload.File{nil, {extraFile(payload.ExpectationName, "{}")}} {
		if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{Extras: files}); !errors.Is(err, payload.ErrForeign) {
			t.Errorf("somebody's folder was replaced: %v", err)
		}
	}
}

func TestExtrasTooLarge(t *testing.T) {
	_, both := withExtras(t, extraFile(payload.ExpectationName, string(make([]byte, (64<<20)+1))))
	_, err := verify.ReadExtras(t.Context(), openLayout(t, both))
	if _, ok := errors.AsType[*rootfs.LimitError](err); !ok {
		t.Errorf("%v", err)
	}
}
