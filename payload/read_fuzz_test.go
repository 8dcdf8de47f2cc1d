package payload

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/fault"
)

// fuzzLimits make a runaway reader visible within a fuzzing step.
var fuzzLimits = Limits{MaxFile: 1 << 20, MaxTotal: 4 << 20, MaxEntries: 1000, MaxRatio: 100}

// tinyFiles keep the seeds small, which is what makes a fuzzer fast.
var tinyFiles = map[string]string{"a.exe": "a", "d/b.psm1": "b"}

// FuzzWalk checks an image of a known lower layer and an arbitrary upper one:
// whatever the tar says, there are findings or a fault, and nothing outside
// the roots is shown.
func FuzzWalk(f *testing.F) {
	f.Add(tarOf(f, archivedItems(f, tinyFiles)...))
	f.Add(tarOf(f, item{name: "payload/.wh.a"}, item{name: "payload/.wh..wh..opq"}, item{name: ".wh.payload"}))
	f.Add(tarOf(f, item{name: "payload/l", kind: tar.TypeSymlink, link: "../etc"}, item{name: "payload/h", kind: tar.TypeLink, link: "payload/l"}))
	f.Add(gzipped(f, tarOf(f, flatItems(tinyFiles)...)))
	f.Add(zstded(f, tarOf(f, item{name: "payload/../x"}, item{name: `payload\x`})))
	f.Fuzz(func(t *testing.T, b []byte) {
		diffOf := b
		if rc, err := inflate(bytes.NewReader(b)); err == nil {
			if out, err := io.ReadAll(io.LimitReader(rc, 8<<20)); err == nil {
				diffOf = out
			}
		}
		lower := layerOf(t, item{name: "payload/a", body: "1"}, item{name: "payload/d/b", body: "2"})
		img := imageOf(t, lower, layerBytes(t, diffOf, b, types.OCILayer))
		s := &Source{Kind: KindOCIArchive, name: "fuzz", image: img, Digest: must(img.Digest())}
		ps, sum, err := Check(t.Context(), s, CheckOptions{Limits: fuzzLimits})
		if err != nil {
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Fatalf("error %v (%T) isn't a fault", err, err)
			}
			return
		}
		for _, p := range ps {
			if p.ID == "" || p.Object == "" {
				t.Errorf("empty problem %+v", p)
			}
		}
		unique := map[string]bool{}
		for _, c := range sum.Images[0].Files {
			if unique[c.stored()] {
				t.Errorf("%s counted twice", c.stored())
			}
			unique[c.stored()] = true
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// FuzzTarball opens arbitrary bytes as an image tarball.
func FuzzTarball(f *testing.F) {
	img := imageOf(f, layerOf(f, flatItems(tinyFiles)...))
	for _, p := range []string{tarFolder(f, layoutOf(f, img)), dockerSave(f, img)} {
		f.Add(must(os.ReadFile(p)))
	}
	f.Add(tarOf(f, item{name: indexFile, body: `{"manifests":[{}]}`}))
	f.Add(tarOf(f, item{name: manifestFile, body: `[{"Config":"a","Layers":["a","b"]}]`}, item{name: "a", kind: tar.TypeSymlink, link: "a"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := writeFile(t, b)
		s, err := Load(t.Context(), p, LoadOptions{})
		if err == nil {
			_, _, err = Check(t.Context(), s, CheckOptions{Limits: fuzzLimits})
			if cerr := s.Close(); cerr != nil {
				t.Error(cerr)
			}
		}
		if err == nil {
			return
		}
		if _, ok := errors.AsType[*fault.Error](err); !ok {
			t.Fatalf("error %v (%T) isn't a fault", err, err)
		}
	})
}

// The sections of a tarball's index are the bytes that archive/tar reads.
func TestTarballIndex(t *testing.T) {
	long := string(bytes.Repeat([]byte("a"), 300)) // a PAX header before the entry
	items := []item{{name: "a", body: "1"}, {name: "./d/b", body: string(make([]byte, 513))}, {name: long, body: "long"}}
	b := tarOf(t, items...)
	tb, err := indexTarball(t.Context(), "x", bytes.NewReader(b), bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		got, err := tb.small(i.name)
		if err != nil || string(got) != i.body {
			t.Errorf("%.10s: %d bytes, %v; want %d", i.name, len(got), err, len(i.body))
		}
	}
	if names := slices.Collect(mapsKeys(tb.files)); len(names) != 3 {
		t.Errorf("files %q, want three", names)
	}
}
