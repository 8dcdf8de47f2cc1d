package operator

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// bodyOf is the made-up content of a file of the operator's own.
func (o operator) bodyOf(arch, f string) string { return o.version + " " + arch + " " + f }

// image is the operator's, played: its files have made-up contents, in the
// layers, the format and under the labels that its Containerfile gives them.
func (o operator) image(t *testing.T, arch string) v1.Image {
	t.Helper()
	sums := ""
	dirs := []string{"payload"}
	below := map[string][]byte{}
	for _, f := range o.files() {
		body := []byte(o.bodyOf(arch, f))
		if d := path.Dir(o.at(f)); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
		sums += sum(body) + "  /build/windows-machine-config-operator/" + f + "\n"
		if below[o.at(f)] = body; o.archived {
			below[o.at(f)] = archive(path.Base(f), body)
		}
	}
	if o.archived {
		below["payload/sha256sum"] = []byte(sums)
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	var err error
	for _, l := range []v1.Layer{
		layerOf(t, map[string]int64{"usr": 0o755, "usr/local": 0o755, "usr/local/bin": 0o755}, map[string][]byte{"usr/local/bin/entrypoint": []byte(arch)}),
		layerOf(t, folders(dirs), below),
		layerOf(t, map[string]int64{"payload/generated": 0o777, "licenses": 0o755}, nil),
	} {
		if img, err = mutate.AppendLayers(img, l); err != nil {
			t.Fatal(err)
		}
	}
	img, err = mutate.ConfigFile(img, config(t, img, arch, map[string]string{"name": "openshift4-wincw/windows-machine-config-rhel9-operator", "version": o.version}))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func config(t *testing.T, img v1.Image, arch string, labels map[string]string) *v1.ConfigFile {
	t.Helper()
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", arch
	c.Config = v1.Config{User: "1001", Entrypoint: []string{"/usr/local/bin/entrypoint"}, Labels: labels}
	return c
}

func folders(names []string) map[string]int64 {
	all := map[string]int64{}
	for _, n := range names {
		all[n] = 0o755
	}
	return all
}

func layerOf(t *testing.T, dirs map[string]int64, files map[string][]byte) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	write := func(h *tar.Header, body []byte) {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range sorted(dirs) {
		write(&tar.Header{Typeflag: tar.TypeDir, Name: n + "/", Mode: dirs[n]}, nil)
	}
	for _, n := range sorted(files) {
		write(&tar.Header{Typeflag: tar.TypeReg, Name: n, Mode: 0o644, Size: int64(len(files[n]))}, files[n])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sorted[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// write writes an image for each architecture into a layout; two make an index.
func write(t *testing.T, o operator, archs ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "operator")
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	idx := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, a := range archs {
		add := mutate.IndexAddendum{Add: o.image(t, a), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: a}}}
		idx = mutate.AppendManifests(idx, add)
	}
	if len(archs) == 1 {
		err = to.AppendImage(o.image(t, archs[0]))
	} else {
		err = to.AppendIndex(idx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// container is the file system that an engine makes of the layout's image for
// an architecture. go-containerregistry merges the layers, not Winbake.
func container(t *testing.T, dir, arch string) map[string]file {
	t.Helper()
	idx, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	d := m.Manifests[0]
	if d.MediaType.IsIndex() {
		if idx, err = idx.ImageIndex(d.Digest); err != nil {
			t.Fatal(err)
		}
		if m, err = idx.IndexManifest(); err != nil {
			t.Fatal(err)
		}
		d = m.Manifests[slices.IndexFunc(m.Manifests, func(d v1.Descriptor) bool { return d.Platform.Architecture == arch })]
	}
	img, err := idx.Image(d.Digest)
	if err != nil {
		t.Fatal(err)
	}
	rc := mutate.Extract(img)
	defer rc.Close()
	return unpacked(t, rc)
}

func unpacked(t *testing.T, r io.Reader) map[string]file {
	t.Helper()
	root := map[string]file{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		root[strings.Trim(path.Clean("/"+h.Name), "/")] = file{mode: h.Mode, dir: h.Typeflag == tar.TypeDir, body: body}
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// digestOf is the digest of a layout's only image.
func digestOf(t *testing.T, dir string) string {
	t.Helper()
	idx, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m.Manifests[0].Digest.String()
}
