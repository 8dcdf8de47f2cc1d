package images

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

func smallLayer(t *testing.T, codec string) *payload.Layer {
	t.Helper()
	c, err := payload.NewCodec(codec, payload.Flat)
	if err != nil {
		t.Fatal(err)
	}
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": "a", "b/c.ps1": "c"})
	return newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Codec: c})
}

// operatorImage is a base with an operator's configuration, of docker's or the
// OCI's media types.
func operatorImage(t *testing.T, docker bool, p v1.Platform) v1.Image {
	t.Helper()
	img := empty.Image // docker's types
	layerType := types.DockerLayer
	if !docker {
		img = mutate.ConfigMediaType(mutate.MediaType(img, types.OCIManifestSchema1), types.OCIConfigJSON)
		layerType = types.OCILayer
	}
	img, err := mutate.ConfigFile(img, &v1.ConfigFile{
		OS: p.OS, Architecture: p.Architecture, Created: v1.Time{Time: time.Unix(1700000000, 0).UTC()},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: "1001", Entrypoint: []string{"/manager"}, Env: []string{"A=b"},
			Labels: map[string]string{"name": "operator", "version": "v10.20.0"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etc/os-release", "manager"} {
		b := tarOf(t, item{name: name, body: name + p.Architecture})
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, tarball.WithMediaType(layerType))
		if err != nil {
			t.Fatal(err)
		}
		img, err = mutate.Append(img, mutate.Addendum{
			Layer: l, History: v1.History{CreatedBy: "COPY " + name},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return img
}

var linuxAMD64 = v1.Platform{OS: "linux", Architecture: "amd64"}

func TestNewImage(t *testing.T) {
	l := smallLayer(t, payload.Gzip)
	img, err := payload.NewImage(l, payload.ImageOptions{
		Title: "payload", Source: "https://example.com/p", Revision: "abc", Version: "4.20", Created: time.Unix(1e9, 0),
		Labels: map[string]string{"x": "y", "org.opencontainers.image.title": "mine"}, Annotations: map[string]string{"z": "w"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := validImage(img); err != nil {
		t.Error(err)
	}
	raw, _ := img.RawConfigFile()
	want := `{"architecture":"amd64","config":{"Labels":{"org.opencontainers.image.created":"2001-09-09T01:46:40Z","org.opencontainers.image.revision":"abc","org.opencontainers.image.source":"https://example.com/p","org.opencontainers.image.title":"mine","org.opencontainers.image.version":"4.20","x":"y"}},"created":"2001-09-09T01:46:40Z","history":[{"created":"2001-09-09T01:46:40Z","created_by":"bake payload"}],"os":"linux","rootfs":{"type":"layers","diff_ids":["` + diffOf(l).String() + `"]}}`
	if string(raw) != want {
		t.Errorf("configuration\n%s\nwant\n%s", raw, want)
	}
	m, _ := img.Manifest()
	if m.MediaType != types.OCIManifestSchema1 || m.Config.MediaType != types.OCIConfigJSON || m.Layers[0].MediaType != types.OCILayer {
		t.Errorf("media types %s, %s, %s", m.MediaType, m.Config.MediaType, m.Layers[0].MediaType)
	}
	if m.Annotations["z"] != "w" || m.Annotations["org.opencontainers.image.title"] != "payload" || m.Annotations["x"] != "" {
		t.Errorf("annotations %v", m.Annotations)
	}
}

func TestNewImageWithoutOptions(t *testing.T) {
	img, err := payload.NewImage(smallLayer(t, payload.Zstd), payload.ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := img.ConfigFile()
	if !c.Created.Equal(time.Unix(0, 0)) || c.Config.Labels != nil {
		t.Errorf("created %s, labels %v", c.Created, c.Config.Labels)
	}
	m, _ := img.Manifest()
	if m.Annotations != nil || m.Layers[0].MediaType != types.OCILayerZStd {
		t.Errorf("annotations %v, layer %s", m.Annotations, m.Layers[0].MediaType)
	}
	_, err = payload.NewImage(smallLayer(t, payload.Gzip), payload.ImageOptions{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}})
	checkText(t, err, []string{"linux/amd64, not for linux/arm64"})
}

func TestAppend(t *testing.T) {
	for _, docker := range []bool{false, true} {
		base := operatorImage(t, docker, linuxAMD64)
		l := smallLayer(t, payload.Gzip)
		img, err := payload.Append(base, l, payload.ImageOptions{
			BaseName: "registry/op", BaseDigest: "sha256:00", Version: "4.20", Labels: map[string]string{"version": "ours"}, Platform: &linuxAMD64,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := validImage(img); err != nil {
			t.Error(err)
		}
		c, _ := img.ConfigFile()
		old, _ := base.ConfigFile()
		if c.Config.User != "1001" || c.Config.Entrypoint[0] != "/manager" || c.Config.Env[0] != "A=b" || c.Created != old.Created {
			t.Errorf("the base's configuration wasn't kept: %+v", c)
		}
		if got := c.Config.Labels; got["name"] != "operator" || got["version"] != "ours" || got["org.opencontainers.image.base.name"] != "registry/op" || got["org.opencontainers.image.base.digest"] != "sha256:00" {
			t.Errorf("labels %v", got)
		}
		if n := len(c.History); n != 3 || c.History[2].CreatedBy != "bake payload" || c.History[0].CreatedBy != "COPY etc/os-release" {
			t.Errorf("history %+v", c.History)
		}
		m, _ := img.Manifest()
		want := types.OCILayer
		if docker {
			want = types.DockerLayer
		}
		for _, d := range m.Layers {
			if d.MediaType != want {
				t.Errorf("layer of media type %s, want %s", d.MediaType, want)
			}
		}
		if got := m.Annotations["org.opencontainers.image.base.name"]; (got == "") != docker {
			t.Errorf("docker %v: annotation %q", docker, got)
		}
		if got, err := img.LayerByDiffID(diffOf(l)); err != nil || layerDigest(got) != layerDigest(l) {
			t.Errorf("LayerByDiffID = %v, %v", got, err)
		}
	}
}

func TestAppendKeepsUnknownFields(t *testing.T) {
	base := operatorImage(t, false, linuxAMD64)
	raw, _ := base.RawConfigFile()
	raw = []byte(strings.Replace(string(raw), `"architecture"`, `"moby.buildkit.x":{"n":12345678901234567890},"architecture"`, 1))
	raw = []byte(strings.Replace(string(raw), `"User"`, `"FutureField":[1],"User"`, 1))
	m, _ := base.Manifest()
	layers, _ := base.Layers()
	odd, err := oci.NewImage(m.DeepCopy(), raw, layers)
	if err != nil {
		t.Fatal(err)
	}
	img, err := payload.Append(odd, smallLayer(t, payload.Gzip), payload.ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := img.RawConfigFile()
	for _, want := range []string{`"moby.buildkit.x":{"n":12345678901234567890}`, `"FutureField":[1]`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestAppendFillsHistory(t *testing.T) {
	base := operatorImage(t, false, linuxAMD64)
	c, _ := base.ConfigFile()
	c = c.DeepCopy()
	c.History = []v1.History{{CreatedBy: "ENV", EmptyLayer: true}}
	base, err := mutate.ConfigFile(base, c)
	if err != nil {
		t.Fatal(err)
	}
	img, err := payload.Append(base, smallLayer(t, payload.Gzip), payload.ImageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := img.ConfigFile()
	var by []string
	for _, h := range got.History {
		by = append(by, h.CreatedBy)
	}
	if want := []string{"ENV", "unknown", "unknown", "bake payload"}; !slices.Equal(by, want) {
		t.Errorf("history %q, want %q", by, want)
	}
}

func TestAppendRefuses(t *testing.T) {
	arm := v1.Platform{OS: "linux", Architecture: "arm64"}
	tests := []struct {
		name  string
		base  v1.Image
		codec string
		o     payload.ImageOptions
		want  []string
	}{
		{"zstd on docker's types", operatorImage(t, true, linuxAMD64), payload.Zstd, payload.ImageOptions{}, []string{"none for zstd", "use gzip"}},
		{"another architecture", operatorImage(t, false, arm), payload.Gzip, payload.ImageOptions{Platform: &linuxAMD64}, []string{"is for linux/arm64, not for linux/amd64"}},
		{"Windows", operatorImage(t, false, v1.Platform{OS: "windows", Architecture: "amd64"}), payload.Gzip, payload.ImageOptions{}, []string{"is for windows/amd64, not for linux"}},
		{"schema 1", mutate.MediaType(empty.Image, types.DockerManifestSchema1), payload.Gzip, payload.ImageOptions{}, []string{"can't be appended to"}},
		{"an artifact", artifact(t), payload.Gzip, payload.ImageOptions{}, []string{"isn't a container image"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := payload.Append(tt.base, smallLayer(t, tt.codec), tt.o)
			checkText(t, err, tt.want)
		})
	}
}

// artifact has a layer that its configuration knows nothing of.
func artifact(t *testing.T) v1.Image {
	t.Helper()
	l := static.NewLayer([]byte("x"), "text/plain")
	h, _ := l.Digest()
	img, err := oci.NewImage(&v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: v1.Descriptor{MediaType: types.OCIConfigJSON},
		Layers: []v1.Descriptor{{MediaType: "text/plain", Digest: h, Size: 1}},
	}, []byte(`{}`), []v1.Layer{l})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func attachment(t *testing.T) mutate.IndexAddendum {
	t.Helper()
	return mutate.IndexAddendum{Add: artifact(t), Descriptor: v1.Descriptor{
		Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}, Annotations: map[string]string{"vnd.docker.reference.type": "attestation-manifest"},
	}}
}

// putting appends one layer to each image of an index.
func putting(l *payload.Layer, o payload.ImageOptions) func(v1.Image) (v1.Image, error) {
	return func(img v1.Image) (v1.Image, error) { return payload.Append(img, l, o) }
}

func TestAppendIndex(t *testing.T) {
	arm := v1.Platform{OS: "linux", Architecture: "arm64"}
	win := v1.Platform{OS: "windows", Architecture: "amd64"}
	base := indexOf(t, map[string]v1.Image{
		"linux/amd64": operatorImage(t, false, linuxAMD64), "linux/arm64": operatorImage(t, false, arm), "windows/amd64": operatorImage(t, false, win),
	})
	base = mutate.AppendManifests(base, attachment(t))
	l := smallLayer(t, payload.Gzip)
	idx, err := payload.AppendIndex(base, payload.ImageOptions{BaseName: "b", Platform: &arm}, putting(l, payload.ImageOptions{BaseName: "b"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := validIndex(idx); err != nil {
		t.Error(err)
	}
	m, _ := idx.IndexManifest()
	var got []string
	for _, d := range m.Manifests {
		img, err := idx.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		_, err = img.LayerByDigest(layerDigest(l))
		c, _ := img.ConfigFile()
		got = append(got, d.Platform.String(), c.Config.Labels["org.opencontainers.image.base.name"], map[bool]string{true: "has it", false: "as it was"}[err == nil])
	}
	want := []string{"linux/amd64", "b", "has it", "linux/arm64", "b", "has it", "windows/amd64", "", "as it was"}
	if !slices.Equal(got, want) {
		t.Errorf("index of %q, want %q", got, want)
	}
	if m.Annotations["org.opencontainers.image.base.name"] != "b" {
		t.Errorf("annotations %v", m.Annotations)
	}
}

func TestAppendIndexWithin(t *testing.T) {
	inner := indexOf(t, map[string]v1.Image{"linux/amd64": operatorImage(t, false, linuxAMD64)})
	idx, err := payload.AppendIndex(nested(inner, 2), payload.ImageOptions{}, putting(smallLayer(t, payload.Gzip), payload.ImageOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := validIndex(idx); err != nil {
		t.Error(err)
	}
}

// nested puts an index into so many others.
func nested(idx v1.ImageIndex, n int) v1.ImageIndex {
	for range n {
		idx = mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: idx})
	}
	return idx
}

func TestAppendIndexRefuses(t *testing.T) {
	windows := map[string]v1.Image{"windows/amd64": operatorImage(t, false, v1.Platform{OS: "windows", Architecture: "amd64"})}
	linux := map[string]v1.Image{"linux/amd64": operatorImage(t, false, linuxAMD64)}
	tests := []struct {
		name string
		base v1.ImageIndex
		o    payload.ImageOptions
		want string
	}{
		{"no Linux image", indexOf(t, windows), payload.ImageOptions{}, "no Linux image"},
		{"only attestations", mutate.AppendManifests(empty.Index, attachment(t)), payload.ImageOptions{}, "no Linux image"},
		{"no such platform", indexOf(t, linux), payload.ImageOptions{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}, "no image for linux/s390x"},
		{"too deep", nested(indexOf(t, linux), oci.MaxIndexDepth), payload.ImageOptions{}, "too many others"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := payload.AppendIndex(tt.base, tt.o, putting(smallLayer(t, payload.Gzip), payload.ImageOptions{}))
			checkText(t, err, []string{tt.want})
		})
	}
}

func TestImageDigestIsReproducible(t *testing.T) {
	digest := func() string {
		img, err := payload.NewImage(smallLayer(t, payload.Gzip), payload.ImageOptions{Version: "1", Labels: map[string]string{"a": "1", "b": "2", "c": "3"}})
		if err != nil {
			t.Fatal(err)
		}
		h, _ := img.Digest()
		return h.String()
	}
	want := digest()
	for range 10 {
		if got := digest(); got != want {
			t.Fatalf("digest %s, then %s", want, got)
		}
	}
	var m map[string]any
	img, _ := payload.NewImage(smallLayer(t, payload.Gzip), payload.ImageOptions{})
	raw, _ := img.RawManifest()
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Error(err)
	}
}
