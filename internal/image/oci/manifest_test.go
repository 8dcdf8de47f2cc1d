package oci

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

// inMap is a blobStore of what was put into it.
type inMap map[v1.Hash][]byte

func (m inMap) open(d v1.Descriptor) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(m[d.Digest])), nil
}
func (m inMap) stat(d v1.Descriptor) (int64, error) { return int64(len(m[d.Digest])), nil }
func (m inMap) where(d v1.Descriptor) string        { return "reg/x@" + d.Digest.String() }
func (m inMap) fix() string                         { return "push it again" }

func (m inMap) put(mt types.MediaType, raw string) v1.Descriptor {
	d := inMemory([]byte(raw)).desc
	d.MediaType = mt
	m[d.Digest] = []byte(raw)
	return d
}

// source is the image or index that d names.
func (m inMap) source(d v1.Descriptor) (*Source, error) {
	s := &Source{Kind: KindRegistry, Name: "reg/x", store: m}
	return s, s.openRoot(d, s.Name)
}

func TestNestedIndexes(t *testing.T) {
	m := inMap{}
	d := m.put(types.OCIImageIndex, `{"manifests":[]}`)
	for depth := range MaxIndexDepth + 2 {
		s, err := m.source(d)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Images()
		if depth <= MaxIndexDepth {
			wantFault(t, err, finding.ExitError, "holds no Linux image")
		} else {
			wantFault(t, err, finding.ExitBlock, "indexes within each other")
		}
		raw, err := json.Marshal(v1.IndexManifest{Manifests: []v1.Descriptor{d}})
		if err != nil {
			t.Fatal(err)
		}
		d = m.put(types.OCIImageIndex, string(raw))
	}
}

func TestManifestsWithTwoMeanings(t *testing.T) {
	tests := []struct {
		mt   types.MediaType
		body string
		want string
	}{
		{types.OCIManifestSchema1, `{"config":{},"layers":[]}`, ""},
		{types.OCIImageIndex, `{"manifests":[]}`, ""},
		{types.OCIManifestSchema1, `{"mediaType":"` + string(types.OCIImageIndex) + `","config":{},"layers":[],"manifests":[]}`, "it calls itself"},
		{types.OCIManifestSchema1, `{"config":{},"layers":[],"manifests":[]}`, "an image and an index at once"},
		{types.OCIImageIndex, `{"manifests":[],"layers":[]}`, "an image and an index at once"},
		{types.OCIImageIndex, `{"manifests":[],"Config":{}}`, "an image and an index at once"},
		{types.OCIManifestSchema1, `{"layers":[],"fsLayers":[]}`, "an image and an index at once"},
		{types.OCIManifestSchema1, `{"manifests":[]}`, "an index under an image's"},
		{types.OCIImageIndex, `{"layers":[]}`, "an image under an index's"},
		{types.OCIImageIndex, `[]`, "not a manifest"},
	}
	for _, tt := range tests {
		if got := wrongManifest(tt.mt, []byte(tt.body)); !strings.Contains(got, tt.want) || got != "" && tt.want == "" {
			t.Errorf("%s as %s: %q, want %q", tt.body, tt.mt, got, tt.want)
		}
	}
}

// A registry says what it likes in a manifest: sizes are looked at before
// anything is read into memory.
func TestImagesBeyondTheLimitsAreRefused(t *testing.T) {
	for want, manifest := range map[string]string{
		"said to have 600000000 bytes": `{"config":{"size":600000000},"layers":[]}`,
		"said to have -1 bytes":        `{"config":{"size":-1},"layers":[]}`,
		"more than any manifest":       `{"config":{"size":3},"layers":[]}` + strings.Repeat(" ", manifestLimit),
	} {
		m := inMap{}
		src, err := m.source(m.put(types.OCIManifestSchema1, manifest))
		if err == nil {
			_, err = src.image.RawConfigFile()
		}
		wantFault(t, err, finding.ExitBlock, "reg/x@", want)
	}
}

// The sections of a tarball's index are the bytes that archive/tar reads.
func TestTarballIndex(t *testing.T) {
	long := string(bytes.Repeat([]byte("a"), 300)) // a PAX header before the entry
	items := []struct{ name, body string }{{"a", "1"}, {"./d/b", string(make([]byte, 513))}, {long, "long"}}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, i := range items {
		if err := w.WriteHeader(&tar.Header{Name: i.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(i.body))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(i.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()
	tb := &imageTarball{name: "x", r: bytes.NewReader(b), files: map[string]section{}}
	if err := tb.list(t.Context(), bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		got, err := localStore{read: tb.read}.small(i.name)
		if err != nil || string(got) != i.body {
			t.Errorf("%.10s: %d bytes, %v; want %d", i.name, len(got), err, len(i.body))
		}
	}
	if len(tb.files) != 3 {
		t.Errorf("files %v, want three", tb.files)
	}
}

// wantFault fails unless err is a fault with all the texts in it and a fix.
func wantFault(t *testing.T, err error, code int, texts ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("error %v (%T) isn't a fault", err, err)
	}
	if f.Fix == "" || f.Where == "" {
		t.Errorf("a fault without place or fix: %+v", f)
	}
	if got := fault.ExitCode(err); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	for _, s := range texts {
		if !strings.Contains(f.Error(), s) {
			t.Errorf("message %q lacks %q", f.Error(), s)
		}
	}
}
