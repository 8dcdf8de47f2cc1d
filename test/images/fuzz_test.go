package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload/verify"
	"github.com/winbake/winbake/test/support/compressed"
)

// fuzzLimits make a runaway reader visible within a fuzzing step.
var fuzzLimits = rootfs.Limits{MaxFile: 1 << 20, MaxTotal: 4 << 20, MaxEntries: 1000}

// tinyFiles keep the seeds small, which is what makes a fuzzer fast.
var tinyFiles = map[string]string{"a.exe": "a", "d/b.psm1": "b"}

// FuzzWalk checks an image of a known lower layer and an arbitrary upper one:
// whatever the tar says, there are findings or a fault, and nothing outside
// the roots is shown.
func FuzzWalk(f *testing.F) {
	f.Add(tarOf(f, archivedItems(f, tinyFiles)...))
	f.Add(tarOf(f, item{name: "payload/.wh.a"}, item{name: "payload/.wh..wh..opq"}, item{name: ".wh.payload"}))
	f.Add(tarOf(f, item{name: "payload/l", kind: tar.TypeSymlink, link: "../etc"}, item{name: "payload/h", kind: tar.TypeLink, link: "payload/l"}))
	f.Add(compressed.Gzip(f, tarOf(f, flatItems(tinyFiles)...)))
	f.Add(zstded(f, tarOf(f, item{name: "payload/../x"}, item{name: `payload\x`})))
	f.Fuzz(func(t *testing.T, b []byte) {
		diffOf := b
		if rc, err := rootfs.Inflate(bytes.NewReader(b)); err == nil {
			if out, err := io.ReadAll(io.LimitReader(rc, 8<<20)); err == nil {
				diffOf = out
			}
		}
		lower := layerOf(t, item{name: "payload/a", body: "1"}, item{name: "payload/d/b", body: "2"})
		img := imageOf(t, lower, layerBytes(t, diffOf, b, types.OCILayer))
		s := open(t, layoutOf(t, img))
		ps, sum, err := verify.Check(t.Context(), s, verify.Options{Limits: limits(fuzzLimits)})
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
			key := fmt.Sprint(c.Path, c.Archived)
			if unique[key] {
				t.Errorf("%s counted twice", key)
			}
			unique[key] = true
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
	f.Add(tarOf(f, item{name: "index.json", body: `{"manifests":[{}]}`}))
	f.Add(tarOf(f, item{name: "manifest.json", body: `[{"Config":"a","Layers":["a","b"]}]`}, item{name: "a", kind: tar.TypeSymlink, link: "a"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := writeFile(t, b)
		s, err := oci.Load(t.Context(), p, oci.Options{})
		if err == nil {
			_, _, err = verify.Check(t.Context(), s, verify.Options{Limits: limits(fuzzLimits)})
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
