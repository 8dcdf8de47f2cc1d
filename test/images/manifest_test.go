package images

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// putBlob writes a blob into a layout and returns its descriptor.
func putBlob(t *testing.T, dir string, mt types.MediaType, raw []byte) v1.Descriptor {
	t.Helper()
	h, n, err := v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, blobIn(h)), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return v1.Descriptor{MediaType: mt, Digest: h, Size: n}
}

// putImage writes an image's blobs into a layout that has it already or not.
func putImage(t *testing.T, dir string, img v1.Image) v1.Descriptor {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		rc := must(l.Compressed())
		var b bytes.Buffer
		must(b.ReadFrom(rc))
		putBlob(t, dir, must(l.MediaType()), b.Bytes())
	}
	putBlob(t, dir, types.OCIConfigJSON, must(img.RawConfigFile()))
	return putBlob(t, dir, types.OCIManifestSchema1, must(img.RawManifest()))
}

// putIndex makes entries the one index of a layout, below index.json.
func putIndex(t *testing.T, dir string, entries ...v1.Descriptor) {
	t.Helper()
	put := func(m []v1.Descriptor) []byte {
		return must(json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: m}))
	}
	d := putBlob(t, dir, types.OCIImageIndex, put(entries))
	if err := os.WriteFile(filepath.Join(dir, "index.json"), put([]v1.Descriptor{d}), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cosigned is what cosign saves beside an image: a signature in the form of
// one.
func cosigned(t *testing.T, body string) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(imageOf(t), static.NewLayer([]byte(body), "application/vnd.dev.cosign.simplesigning.v1+json"))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

var windows = &v1.Platform{OS: "windows", Architecture: "amd64"}

// Container engines choose from an index by platform alone, so nothing that
// they could choose may go unjudged, whatever stands beside the platform.
func TestIndexEntriesThatEnginesCouldChoose(t *testing.T) {
	t.Parallel()
	clean := imageOf(t, layerOf(t, flatItems(nodeFiles)...))
	evil := imageOf(t, layerOf(t, append(flatItems(nodeFiles), item{name: "payload/evil.exe", body: "x"})...))
	windowsImage := must(mutate.ConfigFile(evil, func() *v1.ConfigFile {
		cf := must(evil.ConfigFile()).DeepCopy()
		cf.OS = "windows"
		return cf
	}()))
	annotated := func(key, value string) func(*v1.Descriptor) {
		return func(d *v1.Descriptor) { d.Annotations = map[string]string{key: value} }
	}
	platform := func(p *v1.Platform) func(*v1.Descriptor) { return func(d *v1.Descriptor) { d.Platform = p } }
	media := func(mt types.MediaType) func(*v1.Descriptor) { return func(d *v1.Descriptor) { d.MediaType = mt } }
	var put func(types.MediaType, string) v1.Descriptor // into the test's layout
	document := func(raw string, mt types.MediaType) func(*v1.Descriptor) {
		return func(d *v1.Descriptor) { *d = put(mt, raw) }
	}
	const found, passed = "found", ""
	tests := []struct {
		name string
		img  v1.Image
		edit []func(*v1.Descriptor)
		want string // found, passed, or a part of the refusal
	}{
		{"plain", evil, nil, found},
		{"BuildKit's annotation", evil, []func(*v1.Descriptor){annotated("vnd.docker.reference.type", "attestation-manifest")}, found},
		{"cosign's annotation", evil, []func(*v1.Descriptor){annotated("kind", "dev.cosignproject.cosign/sigs")}, found},
		{"no platform", evil, []func(*v1.Descriptor){platform(nil), annotated("kind", "dev.cosignproject.cosign/sigs")}, found},
		{"no platform, a configuration for Windows", windowsImage, []func(*v1.Descriptor){platform(nil)}, found},
		{"upper case", evil, []func(*v1.Descriptor){platform(&v1.Platform{OS: "Linux", Architecture: "AMD64"})}, found},
		{"unknown media type", evil, []func(*v1.Descriptor){media("application/x")}, `its media type is "application/x"`},
		{"an entry of another type, no platform", evil, []func(*v1.Descriptor){document("<x/>", "application/xml")}, passed},
		{"ORAS's artifact", evil, []func(*v1.Descriptor){document(`{"mediaType":"application/vnd.oci.artifact.manifest.v1+json","blobs":[]}`, "application/vnd.oci.artifact.manifest.v1+json")}, passed},
		{"an entry of another type for Linux", evil, []func(*v1.Descriptor){document("<x/>", "application/xml"), platform(&linuxAMD64)}, `its media type is "application/xml"`},
		{"an entry without a type", evil, []func(*v1.Descriptor){document("<x/>", "")}, `its media type is ""`},
		{"schema 1", evil, []func(*v1.Descriptor){document("<x/>", types.DockerManifestSchema1)}, "manifest.v1+json"},
		{"media type of another family", evil, []func(*v1.Descriptor){media(types.DockerManifestSchema2)}, "it calls itself " + string(types.OCIManifestSchema1)},
		{"an image as an index", evil, []func(*v1.Descriptor){media(types.OCIImageIndex)}, "it calls itself " + string(types.OCIManifestSchema1)},
		{"cosign's signature", cosigned(t, `{"critical":{}}`), []func(*v1.Descriptor){platform(nil)}, passed},
		{"attestation", evil, []func(*v1.Descriptor){platform(&v1.Platform{OS: "unknown", Architecture: "unknown"})}, passed},
		{"Windows", evil, []func(*v1.Descriptor){platform(windows)}, passed},
		{"unknown media type for Windows", evil, []func(*v1.Descriptor){media("application/x"), platform(windows)}, passed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := layoutOf(t, clean)
			bad, good := putImage(t, dir, tt.img), putImage(t, dir, clean)
			put = func(mt types.MediaType, raw string) v1.Descriptor { return putBlob(t, dir, mt, []byte(raw)) }
			bad.Platform, good.Platform = &linuxAMD64, &linuxAMD64
			for _, edit := range tt.edit {
				edit(&bad)
			}
			putIndex(t, dir, bad, good)
			ps, _, err := verify.Check(t.Context(), open(t, dir), verify.Options{Expected: expectedOf(payload.Flat, nodeFiles)})
			switch tt.want {
			case found:
				if err != nil || !slices.ContainsFunc(ps, func(p verify.Problem) bool { return p.ID == verify.IDFileUnexpected }) {
					t.Errorf("%+v, %v", ps, err)
				}
			case passed:
				if err != nil || len(ps) > 0 {
					t.Errorf("%+v, %v", ps, err)
				}
			default:
				wantFault(t, err, finding.ExitBlock, tt.want)
			}
		})
	}
}

// From a layout's own index.json engines choose by tag, not by platform: an
// image for Windows beside the one for Linux is nobody's choice there.
func TestLayoutOfTwoTags(t *testing.T) {
	t.Parallel()
	clean := imageOf(t, layerOf(t, flatItems(nodeFiles)...))
	inWindows := must(mutate.ConfigFile(clean, &v1.ConfigFile{OS: "windows", RootFS: must(clean.ConfigFile()).RootFS}))
	for _, tt := range []struct {
		name   string
		tag    string
		nested bool
		images int
	}{{"two tags", "windows", false, 1}, {"no tag", "", false, 2}, {"a tag within an index", "windows", true, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			dir := layoutOf(t, clean)
			linux, other := putImage(t, dir, clean), putImage(t, dir, inWindows)
			linux.Annotations = map[string]string{"org.opencontainers.image.ref.name": "linux"}
			if tt.tag != "" {
				other.Annotations = map[string]string{"org.opencontainers.image.ref.name": tt.tag}
			}
			if tt.nested {
				putIndex(t, dir, linux, other)
			} else {
				raw := must(json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{linux, other}}))
				if err := os.WriteFile(filepath.Join(dir, "index.json"), raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if images, err := open(t, dir).Images(); err != nil || len(images) != tt.images {
				t.Errorf("%d images, %v; want %d", len(images), err, tt.images)
			}
		})
	}
}

// A signature of another kind than cosign's, beside its image.
func TestArtifactsArePassed(t *testing.T) {
	t.Parallel()
	clean := imageOf(t, layerOf(t, flatItems(nodeFiles)...))
	dir := layoutOf(t, clean)
	good := putImage(t, dir, clean)
	good.Platform = &linuxAMD64
	config := putBlob(t, dir, "application/vnd.oci.empty.v1+json", []byte("{}"))
	artifact := putBlob(t, dir, types.OCIManifestSchema1, must(json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: "application/vnd.cncf.notary.signature", Config: config,
		Layers: []v1.Descriptor{putBlob(t, dir, "application/cose", []byte("\xd2\x84"))},
	})))
	putIndex(t, dir, good, artifact)
	if err := load(t.Context(), dir, oci.Options{}); err != nil {
		t.Error(err)
	}
}

// The first of two entries for one image mustn't decide for both.
func TestIndexNamesAnImageForTwoPlatforms(t *testing.T) {
	clean := imageOf(t, layerOf(t, flatItems(nodeFiles)...))
	evil := imageOf(t, layerOf(t, append(flatItems(nodeFiles), item{name: "payload/evil.exe", body: "x"})...))
	dir := layoutOf(t, clean)
	first, second, good := putImage(t, dir, evil), putImage(t, dir, evil), putImage(t, dir, clean)
	first.Platform, second.Platform, good.Platform = windows, &linuxAMD64, &linuxAMD64
	putIndex(t, dir, first, second, good)
	if images, err := open(t, dir).Images(); err != nil || len(images) != 2 {
		t.Errorf("%d images, %v; want 2", len(images), err)
	}
	other := putImage(t, dir, must(mutate.ConfigFile(evil, &v1.ConfigFile{OS: "windows", RootFS: must(evil.ConfigFile()).RootFS})))
	again := other
	again.Platform = &linuxAMD64
	putIndex(t, dir, other, again, good)
	s := must(oci.Load(t.Context(), dir, oci.Options{Platform: &linuxAMD64}))
	if images, err := s.Images(); err != nil || len(images) != 2 {
		t.Errorf("%d images for one platform, %v; want 2", len(images), err)
	}
}

// A base that was signed with cosign and saved loses the signature, as one
// with BuildKit's attestation does.
func TestAppendIndexDropsSignatures(t *testing.T) {
	base := smallImage(t)
	dir := layoutOf(t, base)
	img, sig := putImage(t, dir, base), putImage(t, dir, cosigned(t, `{"critical":{}}`))
	img.Platform = &linuxAMD64
	putIndex(t, dir, img, sig)
	idx := open(t, dir).Index()
	layer := newTestLayer(t, treeOfBodies(payload.Flat, nodeFiles), newMemStore(), payload.LayerOptions{})
	got, err := payload.AppendIndex(idx, payload.ImageOptions{}, putting(layer, payload.ImageOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if m := must(got.IndexManifest()); len(m.Manifests) != 1 {
		t.Errorf("%d entries, want the image alone", len(m.Manifests))
	}
}

func blobIn(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }

// dockerEntry is an entry of manifest.json.
type dockerEntry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// A whole image that another reader takes for an index.
func TestImageWithTwoMeanings(t *testing.T) {
	dir := layoutOf(t, smallImage(t))
	img := putImage(t, dir, smallImage(t))
	var both map[string]any
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(dir, blobIn(img.Digest)))), &both); err != nil {
		t.Fatal(err)
	}
	both["manifests"] = []any{}
	d := putBlob(t, dir, types.OCIManifestSchema1, must(json.Marshal(both)))
	raw := must(json.Marshal(v1.IndexManifest{SchemaVersion: 2, Manifests: []v1.Descriptor{d}}))
	if err := os.WriteFile(filepath.Join(dir, "index.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, d.Digest.Hex, "an image and an index at once")
}
