package ociimage

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
)

// chainIndex is an index that always holds another one, as a registry that
// lies about digests could serve it. Its other methods aren't called.
type chainIndex struct {
	anyIndex
	n    byte
	step byte // 0: it holds itself
}

type anyIndex = v1.ImageIndex

func (c chainIndex) IndexManifest() (*v1.IndexManifest, error) {
	return &v1.IndexManifest{Manifests: []v1.Descriptor{{
		MediaType: types.OCIImageIndex,
		Digest:    v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%064x", c.n)},
	}}}, nil
}

func (c chainIndex) MediaType() (types.MediaType, error) { return types.OCIImageIndex, nil }
func (c chainIndex) RawManifest() ([]byte, error)        { return []byte(`{}`), nil }

func (c chainIndex) ImageIndex(v1.Hash) (v1.ImageIndex, error) {
	return chainIndex{n: c.n + c.step, step: c.step}, nil
}

func TestNestedIndexes(t *testing.T) {
	s := &Source{Kind: KindLayout, Name: "x", index: chainIndex{step: 1}}
	_, err := s.Images()
	wantFault(t, err, finding.ExitBlock, "indexes within each other")
	s.index = chainIndex{}
	_, err = s.Images()
	wantFault(t, err, finding.ExitError, "holds no Linux image")
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

// sayingSize is an image whose manifest says something of its size, and whose
// configuration mustn't be read.
type sayingSize struct {
	v1.Image
	manifest []byte
}

func (s sayingSize) RawManifest() ([]byte, error) { return s.manifest, nil }

func (s sayingSize) ConfigFile() (*v1.ConfigFile, error) {
	return nil, errors.New("the configuration was read")
}

// A registry says what it likes in a manifest: sizes are looked at before
// anything is read into memory.
func TestImagesBeyondTheLimitsAreRefused(t *testing.T) {
	layers := func(n int) string { return strings.Repeat(`{},`, n-1) + `{}` }
	for want, manifest := range map[string]string{
		"said to have 600000000 bytes": `{"config":{"size":600000000},"layers":[]}`,
		"said to have -1 bytes":        `{"config":{"size":-1},"layers":[]}`,
		"3000 layers":                  `{"config":{"size":3},"layers":[` + layers(3000) + `]}`,
		"more than any manifest":       `{"config":{"size":3},"layers":[]}` + strings.Repeat(" ", manifestLimit),
	} {
		s := &Source{Kind: KindRegistry, Name: "reg/x", image: sayingSize{empty.Image, []byte(manifest)}}
		_, err := s.Images()
		wantFault(t, err, finding.ExitBlock, "reg/x@", want)
	}
	if err := (&Source{Name: "x"}).judgeable(v1.Hash{}, types.OCIManifestSchema1, []byte(`{"config":{"size":3},"layers":[`+layers(maxLayers)+`]}`)); err != nil {
		t.Error(err)
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
