package images

import (
	"archive/tar"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"

	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// executable makes bytes that compress about as executables do, to 0.35.
func executable(size int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, seed))
	b := make([]byte, 0, size+64)
	for len(b) < size {
		for range 8 {
			b = append(b, byte(r.Uint32()))
		}
		back := min(len(b), 1+r.IntN(4096))
		b = append(b, b[len(b)-back:][:min(back, 20)]...)
	}
	return b[:size]
}

// benchFiles is a payload of 420 MB in 14 executables, as WMCO's is, or a
// tenth of it under -short.
func benchFiles() map[string]string {
	files := map[string]string{}
	size := 30 << 20
	if testing.Short() {
		size = 3 << 20
	}
	for i := range 14 {
		files[fmt.Sprintf("d%d/program%d.exe", i, i)] = string(executable(size, uint64(i)))
	}
	return files
}

// plain hashes and inflates the same bytes one after another, with the same
// libraries: what no check can do without.
func plain(img v1.Image) {
	layers := must(img.Layers())
	for _, l := range layers {
		rc := must(l.Compressed())
		raw := sha256.New()
		z := must(gzip.NewReader(io.TeeReader(rc, raw)))
		diff := sha256.New()
		tr := tar.NewReader(io.TeeReader(z, diff))
		for {
			h, err := tr.Next()
			if err == io.EOF {
				break
			}
			var content io.Reader = tr
			if must(h, err); strings.HasSuffix(h.Name, payload.ArchiveSuffix) {
				inner := tar.NewReader(must(gzip.NewReader(tr)))
				must(inner.Next())
				content = inner
			}
			must(io.Copy(sha256.New(), content))
		}
	}
}

// BenchmarkCheck compares Check with plain hashing and inflating; the goal is
// a ratio of at most 2.
func BenchmarkCheck(b *testing.B) {
	files := benchFiles()
	var total int64
	for _, f := range files {
		total += int64(len(f))
	}
	for name, items := range map[string][]item{"archived": archivedItems(b, files), "flat": flatItems(files)} {
		dir := layoutOf(b, imageOf(b, layerOf(b, items...)))
		b.Run(name+"/plain", func(b *testing.B) {
			img := must(open(b, dir).Image())
			for b.Loop() {
				plain(img)
			}
			b.SetBytes(total)
		})
		b.Run(name+"/check", func(b *testing.B) {
			head := make([]byte, 4096)
			opts := verify.Options{Executable: func(_ string, r io.ReaderAt, _ int64) { _, _ = r.ReadAt(head, 0) }}
			b.ReportAllocs()
			for b.Loop() {
				ps, _, err := verify.Check(b.Context(), open(b, dir), opts)
				if err != nil || len(ps) > 0 {
					b.Fatal(ps, err)
				}
			}
			b.SetBytes(total)
		})
	}
}
