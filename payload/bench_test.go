package payload

import (
	"fmt"
	"testing"
)

// Levels are chosen by these figures together with those of real programs:
// docs/performance.md. "ratio" is compressed by raw size.
func BenchmarkLayer(b *testing.B) {
	files := map[string]string{}
	for i := range uint64(4) {
		files[fmt.Sprintf("%d.exe", i)] = programLike(i, 8<<20)
	}
	codecs := map[Format][]Codec{
		Flat:     {{Gzip, 1}, {Gzip, 3}, {Gzip, 6}, {Zstd, 1}, {Zstd, 2}},
		Archived: {{Gzip, 0}, {Gzip, 1}, {Zstd, 1}},
	}
	for _, format := range []Format{Flat, Archived} {
		for _, codec := range codecs[format] {
			b.Run(fmt.Sprintf("%s/%s-%d", format, codec.Name, codec.Level), func(b *testing.B) {
				tree, _ := treeOf(format, files)
				b.SetBytes(tree.Size())
				var size int64
				for b.Loop() {
					l, err := NewLayer(b.Context(), tree, newMemStore(), LayerOptions{Codec: codec})
					if err != nil {
						b.Fatal(err)
					}
					size = l.size
				}
				b.ReportMetric(float64(size)/float64(tree.Size()), "ratio")
			})
		}
	}
}

// A known layer costs its record and no more.
func BenchmarkKnownLayer(b *testing.B) {
	tree, _ := treeOf(Archived, map[string]string{"a.exe": programLike(1, 8<<20)})
	store := newMemStore()
	for b.Loop() {
		if _, err := NewLayer(b.Context(), tree, store, LayerOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
