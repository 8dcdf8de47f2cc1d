// Package compressed has test input that is compressed.
package compressed

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// Gzip returns b as a gzip stream.
func Gzip(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
