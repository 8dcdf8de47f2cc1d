package images

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/test/support/compressed"
)

// item is one tar entry of a test's layer.
type item struct {
	name string
	body string
	mode int64 // 0: 0644, folders 0755
	kind byte  // 0: a file, or a folder when the name ends with a slash
	link string
	pax  map[string]string
}

func tarOf(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, i := range items {
		h := &tar.Header{Name: i.name, Mode: i.mode, Typeflag: i.kind, Linkname: i.link, Size: int64(len(i.body)), PAXRecords: i.pax}
		if i.kind == 0 {
			h.Typeflag = tar.TypeReg
			if strings.HasSuffix(i.name, "/") {
				h.Typeflag = tar.TypeDir
			}
		}
		if i.mode == 0 {
			h.Mode = 0o644
			if h.Typeflag == tar.TypeDir {
				h.Mode = 0o755
			}
		}
		if i.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: i.kind, PAXRecords: i.pax}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("WriteHeader(%q): %v", i.name, err)
		}
		if _, err := io.WriteString(w, i.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// builtLayer is a layer whose diff id may lie.
type builtLayer struct {
	v1.Layer
	diffID v1.Hash
}

func (l builtLayer) DiffID() (v1.Hash, error) { return l.diffID, nil }

func layerBytes(t testing.TB, tarball, compressed []byte, mt types.MediaType) v1.Layer {
	t.Helper()
	h, _, err := v1.SHA256(bytes.NewReader(tarball))
	if err != nil {
		t.Fatal(err)
	}
	return builtLayer{static.NewLayer(compressed, mt), h}
}

func layerOf(t testing.TB, items ...item) v1.Layer {
	t.Helper()
	b := tarOf(t, items...)
	return layerBytes(t, b, compressed.Gzip(t, b), types.OCILayer)
}

func imageOf(t testing.TB, layers ...v1.Layer) v1.Image {
	t.Helper()
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(base, &v1.ConfigFile{OS: "linux", Architecture: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	if img, err = mutate.AppendLayers(img, layers...); err != nil {
		t.Fatal(err)
	}
	return img
}

func indexOf(t testing.TB, images map[string]v1.Image) v1.ImageIndex {
	t.Helper()
	idx := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range slices.Sorted(mapsKeys(images)) {
		platform, err := v1.ParsePlatform(p)
		if err != nil {
			t.Fatal(err)
		}
		idx = mutate.AppendManifests(idx, mutate.IndexAddendum{Add: images[p], Descriptor: v1.Descriptor{Platform: platform}})
	}
	return idx
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// layoutOf writes an image or an index as an OCI layout.
func layoutOf(t testing.TB, a mutate.Appendable) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "image")
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	switch a := a.(type) {
	case v1.ImageIndex:
		err = p.AppendIndex(a)
	case v1.Image:
		err = p.AppendImage(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// open loads a reference and closes it with the test.
func open(t testing.TB, ref string) *oci.Source {
	t.Helper()
	s, err := oci.Load(t.Context(), ref, oci.Options{})
	if err != nil {
		t.Fatalf("Load(%s): %v", ref, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func sumOf(b string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(b))) }

// archive is a file as an archived payload stores it.
func archive(t testing.TB, p, body string) item {
	t.Helper()
	return item{name: payload.Root + "/" + p + payload.ArchiveSuffix, body: string(compressed.Gzip(t, tarOf(t, item{name: path.Base(p), body: body})))}
}

// nodeFiles is a small payload.
var nodeFiles = map[string]string{
	"azure-cloud-node-manager.exe":    "azure",
	"csi-proxy/csi-proxy.exe":         strings.Repeat("csi-proxy ", 30_000),
	"containerd/containerd_conf.toml": "version = 2\n",
	"kube-node/kubelet.exe":           strings.Repeat("kubelet ", 5_000),
	"powershell/hns.psm1":             "function Get-HnsNetwork {}\n",
}

func sortedNames(files map[string]string) []string { return slices.Sorted(mapsKeys(files)) }

// folders are the folder entries of a payload.
func folders(files map[string]string) []item {
	items := []item{{name: "payload/"}, {name: "payload/generated/", mode: 0o777}}
	seen := map[string]bool{}
	for _, p := range sortedNames(files) {
		if d := path.Dir(p); d != "." && !seen[d] {
			seen[d] = true
			items = append(items, item{name: "payload/" + d + "/"})
		}
	}
	return items
}

// sumsFile names absolute paths of a build host, as stock images do.
func sumsFile(files map[string]string) item {
	var b strings.Builder
	for _, p := range sortedNames(files) {
		fmt.Fprintf(&b, "%s  /build/windows-machine-config-operator/%s\n", sumOf(files[p]), p)
	}
	return item{name: "payload/sha256sum", body: b.String()}
}

func archivedItems(t testing.TB, files map[string]string) []item {
	t.Helper()
	items := folders(files)
	for _, p := range sortedNames(files) {
		items = append(items, archive(t, p, files[p]))
	}
	return append(items, sumsFile(files))
}

func flatItems(files map[string]string) []item {
	items := folders(files)
	for _, p := range sortedNames(files) {
		items = append(items, item{name: "payload/" + p, body: files[p]})
	}
	return items
}

// osLayer is what lies under a payload in an operator's image, with things
// that a payload must not have.
func osLayer(t testing.TB) v1.Layer {
	t.Helper()
	return layerOf(t,
		item{name: "etc/"}, item{name: "etc/passwd", body: "root:x:0:0\n", mode: 0o600},
		item{name: "usr/bin/su", body: "su", mode: 0o4755},
		item{name: "lib", kind: tar.TypeSymlink, link: "usr/lib"},
		item{name: "dev/null", kind: tar.TypeChar},
	)
}

// stockImage is split as an operator's Containerfile does it: a layer for each
// COPY, then one from chmod that copies everything up.
func stockImage(t testing.TB, items []item) v1.Image {
	t.Helper()
	layers := []v1.Layer{osLayer(t)}
	for _, i := range items {
		up := i
		if up.mode != 0o777 {
			up.mode = 0o755
		}
		layers = append(layers, layerOf(t, item{name: "payload/"}, up))
	}
	layers = append(layers, layerOf(t, items...))
	return imageOf(t, append(layers, layerOf(t, item{name: "licenses/LICENSE", body: "Apache"}))...)
}

func appendLayer(t testing.TB, img v1.Image, l v1.Layer) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(img, l)
	if err != nil {
		t.Fatal(err)
	}
	return img
}
