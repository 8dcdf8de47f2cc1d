package payload

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func extraFile(name, content string) File {
	return File{Path: name, SHA256: sumOf(content), Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(content))), nil
	}}
}

// withExtras is an image of a payload, and of the same with extras on top.
func withExtras(t *testing.T, files ...File) (plain, both v1.Image) {
	t.Helper()
	store := newMemStore()
	layer, err := NewLayer(t.Context(), &Tree{Format: Flat, Files: []File{extraFile("csi-proxy/csi-proxy.exe", "MZ")}}, store, LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if plain, err = NewImage(layer, ImageOptions{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	extras, err := NewExtras(t.Context(), files, store, LayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if both, err = Append(plain, extras, ImageOptions{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	return plain, both
}

func openLayout(t *testing.T, img v1.Image) *Source {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "layout")
	if _, err := WriteLayout(t.Context(), dir, img, nil); err != nil {
		t.Fatal(err)
	}
	s, err := Load(t.Context(), dir, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestExtrasRoundTrip(t *testing.T) {
	plain, both := withExtras(t, extraFile(ExpectationName, "{}"), extraFile(VerifyName, "MZ2"))
	s := openLayout(t, both)
	x, err := ReadExtras(t.Context(), s, Limits{})
	if err != nil || string(x.Expectation) != "{}" || string(x.Verify) != "MZ2" {
		t.Fatalf("%+v, %v", x, err)
	}
	if problems, _, err := Check(t.Context(), s, CheckOptions{}); err != nil || len(problems) > 0 {
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
	if x, err := ReadExtras(t.Context(), openLayout(t, plain), Limits{}); err != nil || x.Expectation != nil || x.Verify != nil {
		t.Errorf("an image without extras has %+v, %v", x, err)
	}
}

func TestExtrasDir(t *testing.T) {
	tree, _ := treeOf(Flat, map[string]string{"a.exe": "a"})
	dir := filepath.Join(t.TempDir(), "out")
	for _, content := range []string{"{}", `{"a":1}`} {
		if err := WriteDir(t.Context(), dir, tree, DirOptions{Extras: []File{extraFile(ExpectationName, content)}}); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(extrasDir(dir), ExpectationName)); err != nil || string(data) != content {
			t.Errorf("%q, %v", data, err)
		}
	}
	if err := WriteDir(t.Context(), dir, tree, DirOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(extrasDir(dir)); err == nil {
		t.Error("what an earlier run wrote is still there")
	}
	if err := os.MkdirAll(extrasDir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(extrasDir(dir), "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]File{nil, {extraFile(ExpectationName, "{}")}} {
		if err := WriteDir(t.Context(), dir, tree, DirOptions{Extras: files}); !errors.Is(err, ErrForeign) {
			t.Errorf("somebody's folder was replaced: %v", err)
		}
	}
}

func TestExtrasTooLarge(t *testing.T) {
	_, both := withExtras(t, extraFile(ExpectationName, string(make([]byte, maxExpectation+1))))
	_, err := ReadExtras(t.Context(), openLayout(t, both), Limits{})
	if _, ok := errors.AsType[*LimitError](err); !ok {
		t.Errorf("%v", err)
	}
}
