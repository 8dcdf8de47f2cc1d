package cas

import (
	"bytes"
	"testing"
)

const benchSize = 64 << 20 // of a kubelet.exe, about

func BenchmarkPut(b *testing.B) {
	s := newStore(b)
	data := bytes.Repeat([]byte("0123456789abcdef"), benchSize/16)
	b.SetBytes(benchSize)
	for b.Loop() {
		if _, _, err := s.Put(b.Context(), bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	s := newStore(b)
	d, _, err := s.Put(b.Context(), bytes.NewReader(make([]byte, benchSize)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchSize)
	for b.Loop() {
		if err := s.Verify(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetAction(b *testing.B) {
	s := newStore(b)
	putAction(b, s, "a", put(b, s, "hello"))
	for b.Loop() {
		if !has(b, s, "a") {
			b.Fatal("it is gone")
		}
	}
}
