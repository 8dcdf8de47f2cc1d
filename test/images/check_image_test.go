package images

import (
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload/verify"
	"github.com/winbake/winbake/test/support/compressed"
)

// Engines mount volumes over what an image has there.
func TestCheckVolumes(t *testing.T) {
	t.Parallel()
	for volume, want := range map[string][]string{
		"/payload": {verify.IDVolume + " /payload"}, "payload/csi-proxy/": {verify.IDVolume + " /payload"}, "/x/../winbake": {verify.IDVolume + " /winbake"},
		"/": {verify.IDVolume + " /payload", verify.IDVolume + " /winbake"}, "/payloads": nil, "/var/lib": nil,
	} {
		img := imageOf(t, layerOf(t, flatItems(nodeFiles)...))
		cf := must(img.ConfigFile()).DeepCopy()
		cf.Config.Volumes = map[string]struct{}{volume: {}}
		if got := problemsOf(t, open(t, layoutOf(t, must(mutate.ConfigFile(img, cf)))), verify.Options{}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", volume, got, want)
		}
	}
}

// A layer that an engine may fill from a table of contents can't be vouched
// for; one that nothing is seen of needs no word.
func TestCheckTablesOfContents(t *testing.T) {
	t.Parallel()
	annotated := func(img v1.Image, l v1.Layer, key string) v1.Image {
		return must(mutate.Append(img, mutate.Addendum{Layer: l, MediaType: types.OCILayer, Annotations: map[string]string{key: "x"}}))
	}
	payload := layerOf(t, slices.Concat([]item{{name: ".wh.winbake"}, {name: "payload/"}, {name: "payload/.wh..wh..opq"}}, flatItems(nodeFiles))...)
	object := " layer " + must(payload.Digest()).String()
	for name, tt := range map[string]struct {
		img  v1.Image
		want []string
	}{
		"zstd:chunked":   {annotated(imageOf(t), payload, "io.github.containers.zstd-chunked.manifest-checksum"), []string{verify.IDLayerTable + object}},
		"eStargz":        {annotated(imageOf(t), payload, "containerd.io/snapshot/stargz/toc.digest"), []string{verify.IDLayerTable + object}},
		"another":        {annotated(imageOf(t), payload, "org.opencontainers.image.title"), nil},
		"below the roof": {appendLayer(t, annotated(imageOf(t), osLayer(t), "io.containers.estargz.uncompressed-size"), payload), nil},
	} {
		ps, _, err := verify.Check(t.Context(), open(t, layoutOf(t, tt.img)), verify.Options{})
		var got []string
		for _, p := range ps {
			if p.Severity != verify.SeverityUnknown {
				t.Errorf("%s: %+v", name, p)
			}
			got = append(got, p.ID+" "+p.Object)
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
		}
	}
}

// Readers that go on behind the end of a tar would unpack a second one.
func TestLayerWithASecondTar(t *testing.T) {
	t.Parallel()
	first, second := tarOf(t, flatItems(nodeFiles)...), tarOf(t, item{name: "payload/evil.exe", body: "x"})
	for name, compressed := range map[string][]byte{
		"two members": append(compressed.Gzip(t, first), compressed.Gzip(t, second)...), "one member": compressed.Gzip(t, append(slices.Clone(first), second...)),
	} {
		dir := layoutOf(t, imageOf(t, layerBytes(t, append(slices.Clone(first), second...), compressed, types.OCILayer)))
		t.Log(name)
		wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, dir, "bytes after the end of its tar archive")
	}
	padded := append(slices.Clone(first), make([]byte, 10<<10)...) // as GNU tar does
	if got := problemsOf(t, open(t, layoutOf(t, imageOf(t, layerBytes(t, padded, compressed.Gzip(t, padded), types.OCILayer)))), verify.Options{}); len(got) > 0 {
		t.Errorf("a padded tar: %q", got)
	}
}
