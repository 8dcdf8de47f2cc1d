package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
	"github.com/winbake/winbake/test/support/compressed"
)

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

// load opens a reference and checks it, whichever fails first.
func load(ctx context.Context, ref string, opts oci.Options) error {
	s, err := oci.Load(ctx, ref, opts)
	if err != nil {
		return err
	}
	_, _, err = verify.Check(ctx, s, verify.Options{})
	return errors.Join(err, s.Close())
}

func smallImage(t testing.TB) v1.Image {
	t.Helper()
	return imageOf(t, osLayer(t), layerOf(t, flatItems(nodeFiles)...))
}

// tarFolder writes a folder's files as a tarball, as `tar -C DIR -c .` does.
func tarFolder(t testing.TB, dir string) string {
	t.Helper()
	var items []item
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		items = append(items, item{name: "./" + filepath.ToSlash(rel), body: string(b)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, tarOf(t, items...))
}

func writeFile(t testing.TB, b []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

// dockerSave writes an image as `docker save` of old did.
func dockerSave(t testing.TB, img v1.Image) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "docker.tar")
	if err := tarball.WriteToFile(p, name.MustParseReference("quay.io/x/y:v1"), img); err != nil {
		t.Fatal(err)
	}
	return p
}

// consistent fails when an image's layers aren't those that it names.
func consistent(t *testing.T, img v1.Image) {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		for what, of := range map[string]struct {
			named func() (v1.Hash, error)
			open  func() (io.ReadCloser, error)
		}{"digest": {l.Digest, l.Compressed}, "diff id": {l.DiffID, l.Uncompressed}} {
			want, err := of.named()
			if err != nil {
				t.Fatal(err)
			}
			rc, err := of.open()
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := v1.SHA256(rc); err != nil || got != want {
				t.Errorf("%s %s, %v; want %s", what, got, err, want)
			}
			if err := rc.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLoadKinds(t *testing.T) {
	img := smallImage(t)
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	dir := layoutOf(t, img)
	archive, docker := tarFolder(t, dir), dockerSave(t, img)
	tests := []struct {
		ref       string
		kind      oci.Kind
		reference string
	}{
		{dir, oci.KindLayout, dir + "@" + digest.String()},
		{"oci:" + dir, oci.KindLayout, dir + "@" + digest.String()},
		{archive, oci.KindOCIArchive, archive + "@" + digest.String()},
		{"oci-archive:" + archive, oci.KindOCIArchive, archive + "@" + digest.String()},
		{docker, oci.KindDockerArchive, ""},
		{"docker-archive:" + docker, oci.KindDockerArchive, ""},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			s := open(t, tt.ref)
			if s.Kind != tt.kind {
				t.Errorf("kind %s, want %s", s.Kind, tt.kind)
			}
			if got := s.Reference(); tt.reference != "" && got != tt.reference {
				t.Errorf("Reference() = %s, want %s", got, tt.reference)
			}
			got, err := s.Image()
			if err != nil {
				t.Fatal(err)
			}
			consistent(t, got)
			if ps := problemsOf(t, s, verify.Options{Expected: expectedOf(payload.Flat, nodeFiles)}); len(ps) > 0 {
				t.Errorf("problems %q", ps)
			}
		})
	}
}

func TestLoadIndex(t *testing.T) {
	idx := indexOf(t, map[string]v1.Image{
		"linux/amd64": smallImage(t), "linux/arm64": imageOf(t, layerOf(t, flatItems(nodeFiles)...)),
		"unknown/unknown": imageOf(t), "windows/amd64": imageOf(t),
	})
	dir := layoutOf(t, idx)
	bare := filepath.Join(t.TempDir(), "bare") // the index itself is index.json
	if _, err := layout.Write(bare, idx); err != nil {
		t.Fatal(err)
	}
	digest, err := idx.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{dir, bare, tarFolder(t, dir)} {
		s := open(t, ref)
		if s.Digest != digest || s.Index() == nil {
			t.Errorf("%s: digest %s, want %s; index %v", ref, s.Digest, digest, s.Index())
		}
		images, err := s.Images()
		if err != nil || len(images) != 2 || images[1].Platform.String() != "linux/arm64" {
			t.Errorf("%s: images %+v, %v", ref, images, err)
		}
		_, err = s.Image()
		wantFault(t, err, finding.ExitError, "linux/amd64", "linux/arm64")
	}
	s, err := oci.Load(t.Context(), dir, oci.Options{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Image(); err != nil {
		t.Errorf("image of a platform: %v", err)
	}
	s, err = oci.Load(t.Context(), dir, oci.Options{Platform: &v1.Platform{OS: "linux", Architecture: "ppc64le"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Image()
	wantFault(t, err, finding.ExitError, "linux/ppc64le")
}

func TestLoadMisnamed(t *testing.T) {
	tests := []struct{ ref, want string }{
		{"_output/image", "no such file or folder"},
		{"./image.tar", "no such file or folder"},
		{"/nowhere/image", "no such file or folder"},
		{"oci:nowhere", "no such file or folder"},
		{"image", "no such file or folder"},
		{"quay.io/UPPER/case:v1", "not a registry reference"},
		{"docker://", "not a registry reference"},
		{"/dev/null", "neither a folder nor a regular file"},
		{writeFile(t, []byte("no tar at all")), "not a tar archive"},
		{writeFile(t, tarOf(t, item{name: "x"})), "not an image"},
		{writeFile(t, compressed.Gzip(t, tarOf(t))), "gunzip -k"},
		{writeFile(t, zstded(t, tarOf(t))), "unzstd"},
		{"oci:" + writeFile(t, tarOf(t, item{name: "index.json", body: "{}"})), "not a directory"},
		{"dir:" + writeFile(t, tarOf(t, item{name: "index.json", body: "{}"})), "not a directory"},
		{"oci-archive:" + t.TempDir(), "is a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			err := load(t.Context(), tt.ref, oci.Options{})
			wantFault(t, err, finding.ExitError, tt.want)
		})
	}
}

// A damaged image whose path could be a registry's is told, and no registry asked.
func TestDamagedImageIsNoReference(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("my.dir/image", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"my.dir/image/index.json": []byte("{}"),
		"my.dir/image.tar":        tarOf(t, item{name: "index.json", body: "{}"}),
	} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		err := load(t.Context(), strings.TrimSuffix(name, "/index.json"), oci.Options{})
		wantFault(t, err, finding.ExitBlock, "oci-layout")
	}
}

// allFiles are the paths of the files of a folder.
func allFiles(t testing.TB, dir string) []string {
	t.Helper()
	all := filesOf(t, dir)
	for i, name := range all {
		all[i] = filepath.Join(dir, name)
	}
	return all
}

// Every blob of a layout that is gone, cut short or changed by one bit must be
// told, with the file's name.
func TestDamagedLayout(t *testing.T) {
	t.Parallel()
	images := map[string]func() string{
		"image": func() string { return layoutOf(t, smallImage(t)) },
		"index": func() string { return layoutOf(t, indexOf(t, map[string]v1.Image{"linux/amd64": smallImage(t)})) },
	}
	damage := map[string]func(string, []byte) error{
		"missing":   func(p string, _ []byte) error { return os.Remove(p) },
		"empty":     func(p string, _ []byte) error { return os.WriteFile(p, nil, 0o644) },
		"cut":       func(p string, b []byte) error { return os.WriteFile(p, b[:len(b)/2], 0o644) },
		"longer":    func(p string, b []byte) error { return os.WriteFile(p, append(b, 'x'), 0o644) },
		"flipped":   func(p string, b []byte) error { b[len(b)/2] ^= 1; return os.WriteFile(p, b, 0o644) },
		"first bit": func(p string, b []byte) error { b[0] ^= 1; return os.WriteFile(p, b, 0o644) },
		"a folder":  func(p string, _ []byte) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) },
		"a link":    func(p string, _ []byte) error { return errors.Join(os.Rename(p, p+".real"), os.Symlink(p+".real", p)) },
	}
	for kind, build := range images {
		blobs := allFiles(t, filepath.Join(build(), "blobs"))
		for how, fn := range damage {
			for i := range blobs {
				t.Run(fmt.Sprintf("%s/%s/%d", kind, how, i), func(t *testing.T) {
					dir := build()
					p := allFiles(t, filepath.Join(dir, "blobs"))[i]
					b, err := os.ReadFile(p)
					if err != nil {
						t.Fatal(err)
					}
					if err := fn(p, b); err != nil {
						t.Fatal(err)
					}
					wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, p)
				})
			}
		}
	}
}

// A layer that needn't be read must be there all the same.
func TestDamagedLayerBelowAnOpaqueOne(t *testing.T) {
	lower := osLayer(t)
	h, err := lower.Digest()
	if err != nil {
		t.Fatal(err)
	}
	items := append([]item{{name: "payload/.wh..wh..opq"}}, flatItems(nodeFiles)...)
	dir := layoutOf(t, imageOf(t, lower, layerOf(t, items...)))
	p := filepath.Join(dir, blobIn(h))
	if err := os.Truncate(p, 10); err != nil {
		t.Fatal(err)
	}
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, p, "has 10 bytes where its manifest says")
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, p, "missing")
}

func TestCutManifestSaysHowMuch(t *testing.T) {
	img := smallImage(t)
	h, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	dir := layoutOf(t, img)
	if err := os.Truncate(filepath.Join(dir, blobIn(h)), 10); err != nil {
		t.Fatal(err)
	}
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, "cut off: 10 of ")
}

func TestDamagedTarball(t *testing.T) {
	whole, err := os.ReadFile(tarFolder(t, layoutOf(t, smallImage(t))))
	if err != nil {
		t.Fatal(err)
	}
	docker, err := os.ReadFile(dockerSave(t, smallImage(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{whole, docker} {
		for n := 1; n < 8; n++ {
			p := writeFile(t, b[:(len(b)-2048)*n/8|1]) // odd: never between two entries
			err := load(t.Context(), p, oci.Options{})
			wantFault(t, err, finding.ExitBlock, p)
		}
	}
	changed := bytes.Clone(docker)
	changed[bytes.Index(changed, []byte(`"rootfs"`))+2] ^= 1
	p := writeFile(t, changed)
	wantFault(t, load(t.Context(), p, oci.Options{}), finding.ExitBlock, p, "its bytes have the digest")
}

func TestGarbageIndex(t *testing.T) {
	tests := []struct{ name, index, want string }{
		{"no JSON", "<html>", "not an image index"},
		{"empty", "", "not an image index"},
		{"no version", `{"manifests":[]}`, "its schemaVersion isn't 2"},
		{"another type", `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","manifests":[]}`, "it calls itself"},
		{"an image too", `{"schemaVersion":2,"manifests":[],"layers":[]}`, "an image and an index at once"},
		{"more after it", `{"schemaVersion":2,"manifests":[]}{}`, "not an image index"},
		{"no manifests", `{"schemaVersion":2,"manifests":[]}`, "holds no image"},
		{"empty entry", `{"schemaVersion":2,"manifests":[null]}`, "its media type is "},
		{"bad digest", `{"schemaVersion":2,"manifests":[{"digest":"sha256:../../x","size":3,"mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`, "not an image index"},
		{"huge", `{"schemaVersion":2,"manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":99999999999,"mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`, "more than any manifest"},
		{"artifact", `{"schemaVersion":2,"manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":3,"mediaType":"text/plain"}]}`, "media type is text/plain"},
		{"gone", `{"schemaVersion":2,"manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":3,"mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`, "is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := layoutOf(t, smallImage(t))
			if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(tt.index), 0o644); err != nil {
				t.Fatal(err)
			}
			err := load(t.Context(), dir, oci.Options{})
			wantFault(t, err, fault.ExitCode(err), dir, tt.want)
		})
	}
	for _, name := range []string{"index.json", "oci-layout"} {
		t.Run("no "+name, func(t *testing.T) {
			dir := layoutOf(t, smallImage(t))
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, name+": missing: a truncated image")
			wantFault(t, load(t.Context(), tarFolder(t, dir), oci.Options{}), finding.ExitBlock, name)
		})
	}
}

func TestWrongDiffID(t *testing.T) {
	l := layerOf(t, flatItems(nodeFiles)...)
	other, err := osLayer(t).DiffID()
	if err != nil {
		t.Fatal(err)
	}
	dir := layoutOf(t, imageOf(t, builtLayer{l, other}))
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, dir, "configuration says "+other.String())
}

func TestLayerThatIsNoTar(t *testing.T) {
	for name, b := range map[string][]byte{
		"text": []byte(strings.Repeat("not a tar ", 1000)), "cut": tarOf(t, flatItems(nodeFiles)...)[:1500],
	} {
		t.Run(name, func(t *testing.T) {
			for _, compressed := range [][]byte{b, compressed.Gzip(t, b)} {
				dir := layoutOf(t, imageOf(t, layerBytes(t, b, compressed, types.OCILayer)))
				wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, dir, "isn't a whole tar archive")
			}
		})
	}
	whole := compressed.Gzip(t, tarOf(t, flatItems(nodeFiles)...))
	dir := layoutOf(t, imageOf(t, layerBytes(t, nil, whole[:len(whole)/2], types.OCILayer)))
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, dir, "t") // damaged before its tar ends
}

func TestLayerCountDiffers(t *testing.T) {
	img := imageOf(t, layerOf(t, flatItems(nodeFiles)...))
	dir := layoutOf(t, configless{img})
	wantFault(t, load(t.Context(), dir, oci.Options{}), finding.ExitBlock, "its configuration lists 0 layers, its manifest 1")
}

// configless swaps an image's configuration for one without layers.
type configless struct{ v1.Image }

func (c configless) RawConfigFile() ([]byte, error) {
	return []byte(`{"os":"linux","architecture":"amd64"}`), nil
}

func (c configless) RawManifest() ([]byte, error) {
	m, err := c.Image.Manifest()
	if err != nil {
		return nil, err
	}
	raw, _ := c.RawConfigFile()
	m = m.DeepCopy()
	m.Config.Digest, m.Config.Size, err = v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

func (c configless) ConfigName() (v1.Hash, error) {
	raw, _ := c.RawConfigFile()
	h, _, err := v1.SHA256(bytes.NewReader(raw))
	return h, err
}

func (c configless) Digest() (v1.Hash, error) {
	raw, err := c.RawManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	h, _, err := v1.SHA256(bytes.NewReader(raw))
	return h, err
}

func (c configless) Size() (int64, error) {
	raw, err := c.RawManifest()
	return int64(len(raw)), err
}

func TestDockerArchives(t *testing.T) {
	layer := tarOf(t, flatItems(nodeFiles)...)
	config := func(diffID string) string {
		return `{"os":"linux","architecture":"amd64","rootfs":{"type":"layers","diff_ids":["` + diffID + `"]}}`
	}
	good := config("sha256:" + sumOf(string(layer)))
	manifest := item{name: "manifest.json", body: `[{"Config":"c.json","RepoTags":["x:v1"],"Layers":["a/layer.tar"]}]`}
	tests := []struct {
		name  string
		items []item
		want  string
	}{
		{"linked layer", []item{manifest, {name: "c.json", body: good}, {name: "b/layer.tar", body: string(layer)},
			{name: "a/layer.tar", kind: '2', link: "../b/layer.tar"}}, ""},
		{"compressed layer", []item{manifest, {name: "c.json", body: good}, {name: "a/layer.tar", body: string(zstded(t, layer))}}, ""},
		{"links in a circle", []item{manifest, {name: "c.json", body: good}, {name: "a/layer.tar", kind: '2', link: "layer.tar"}}, "a/layer.tar: this layer of the image is missing"},
		{"no layer", []item{manifest, {name: "c.json", body: good}}, "a/layer.tar: this layer of the image is missing"},
		{"no configuration", []item{manifest}, "c.json: missing"},
		{"other configuration", []item{manifest, {name: "c.json", body: config("sha256:" + sumOf("x"))}, {name: "a/layer.tar", body: string(layer)}}, "the layer unpacks to"},
		{"garbage configuration", []item{manifest, {name: "c.json", body: "<"}, {name: "a/layer.tar", body: string(layer)}}, "not an image configuration"},
		{"garbage manifest", []item{{name: "manifest.json", body: "{"}}, "isn't that of an image tarball"},
		{"two images", []item{{name: "manifest.json", body: `[{"RepoTags":["a:1"]},{"RepoTags":["b:1"]}]`}}, "holds 2 images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := writeFile(t, tarOf(t, tt.items...))
			err := load(t.Context(), p, oci.Options{})
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantFault(t, err, fault.ExitCode(err), p, tt.want)
		})
	}
}

func TestSourceOfFolderHasNoImage(t *testing.T) {
	s := open(t, t.TempDir())
	_, err := s.Image()
	wantFault(t, err, finding.ExitError, "a folder of payload files")
	if s.Reference() != s.Ref {
		t.Errorf("Reference() = %s, want %s", s.Reference(), s.Ref)
	}
}

type iotestErr struct{ err error }

func (e iotestErr) Read([]byte) (int, error) { return 0, e.err }

func TestTwoIndexesNameOneImage(t *testing.T) {
	nested := indexOf(t, map[string]v1.Image{"linux/amd64": smallImage(t)})
	dir := filepath.Join(t.TempDir(), "nested")
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []v1.ImageIndex{nested, indexOf(t, map[string]v1.Image{"linux/arm64": smallImage(t)})} {
		if err := p.AppendIndex(a); err != nil {
			t.Fatal(err)
		}
	}
	if images, err := open(t, dir).Images(); err != nil || len(images) != 1 {
		t.Errorf("images %+v, %v; want one, since both indexes name the same", images, err)
	}
}
