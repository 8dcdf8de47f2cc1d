//go:build e2e

package readers

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/test/support/compressed"
)

func layerOf(t *testing.T, files map[string]string) v1.Layer {
	t.Helper()
	b := compressed.Gzip(t, tarOf(t, files))
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// tarOf has the files with the folders above them; a name with a slash at its
// end is a folder that anyone may write into.
func tarOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	entries := map[string]*tar.Header{}
	for name, body := range files {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(body)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			h.Mode, h.Typeflag = 0o777, tar.TypeDir
		}
		entries[name] = h
		for dir := path.Dir(strings.TrimSuffix(name, "/")); dir != "."; dir = path.Dir(dir) {
			entries[dir+"/"] = &tar.Header{Name: dir + "/", Mode: 0o755, Typeflag: tar.TypeDir}
		}
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := w.WriteHeader(entries[name]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
