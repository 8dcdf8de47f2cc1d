package images

import (
	"fmt"
	"testing"

	"github.com/winbake/winbake/payload"
)

// Levels are chosen by these figures together with those of real programs:
// docs/performance.md. "ratio" is compressed by raw size.
func BenchmarkLayer(b *testing.B) {
	files := map[string]string{}
	for i := range uint64(4) {
		files[fmt.Sprintf("%d.exe", i)] = programLike(i, 8<<20)
	}
	codecs := map[payload.Format][]payload.Codec{
		payload.Flat:     {{Name: payload.Gzip, Level: 1}, {Name: payload.Gzip, Level: 3}, {Name: payload.Gzip, Level: 6}, {Name: payload.Zstd, Level: 1}, {Name: payload.Zstd, Level: 2}},
		payload.Archived: {{Name: payload.Gzip, Level: 0}, {Name: payload.Gzip, Level: 1}, {Name: payload.Zstd, Level: 1}},
	}
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		for _, codec := range codecs[format] {
			b.Run(fmt.Sprintf("%s/%s-%d", format, codec.Name, codec.Level), func(b *testing.B) {
				tree, _ := treeOf(format, files)
				b.SetBytes(tree.Size())
				var size int64
				for b.Loop() {
					l, err := payload.NewLayer(b.Context(), tree, newMemStore(), payload.LayerOptions{Codec: codec})
					if err != nil {
						b.Fatal(err)
					}
					size = must(l.Size())
				}
				b.ReportMetric(float64(size)/float64(tree.Size()), "ratio")
			})
		}
	}
}

// A known layer costs its record and no more.
func BenchmarkKnownLayer(b *testing.B) {
	tree, _ := treeOf(payload.Archived, map[string]string{"a.exe": programLike(1, 8<<20)})
	store := newMemStore()
	for b.Loop() {
		if _, err := payload.NewLayer(b.Context(), tree, store, payload.LayerOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
