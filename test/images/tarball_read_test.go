package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/image/oci"
)

// tarballItems are the entries of a tarball as WriteTarball makes it.
func tarballItems(t *testing.T, x oci.ImageOrIndex) []item {
	t.Helper()
	file := filepath.Join(t.TempDir(), "image.tar")
	if _, err := oci.WriteTarball(t.Context(), file, x, nil); err != nil {
		t.Fatal(err)
	}
	var items []item
	tr := tar.NewReader(bytes.NewReader(must(os.ReadFile(file))))
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return items
		}
		items = append(items, item{name: must(h, err).Name, body: string(must(io.ReadAll(tr)))})
	}
}

func bodyOf(items []item, name string) string {
	return items[slices.IndexFunc(items, func(i item) bool { return i.name == name })].body
}

// Some readers take the first of two files of one name, those that unpack the
// tarball get the last.
func TestTarballsWithTwoMeanings(t *testing.T) {
	t.Parallel()
	clean := tarballItems(t, smallImage(t))
	evil := tarballItems(t, imageOf(t, layerOf(t, item{name: "payload/evil.exe", body: "x"})))
	with := func(more ...item) []item { return slices.Concat(clean, more) }
	blobs := slices.DeleteFunc(slices.Clone(evil), func(i item) bool {
		return !strings.HasPrefix(i.name, "blobs/sha256/") || slices.ContainsFunc(clean, func(c item) bool { return c.name == i.name })
	})
	manifest := func(change func(*dockerEntry)) []item {
		var m []dockerEntry
		if err := json.Unmarshal([]byte(bodyOf(clean, "manifest.json")), &m); err != nil {
			t.Fatal(err)
		}
		change(&m[0])
		return edit(with(blobs...), "manifest.json", func(i *item) { i.body = string(must(json.Marshal(m))) })
	}
	tests := []struct {
		name  string
		items []item
		want  string
	}{
		{"as it is written", clean, ""},
		{"without manifest.json", drop(clean, "manifest.json"), ""},
		{"a layer under another name", slices.Concat(manifest(func(m *dockerEntry) { m.Layers[1] = "copy.tar" }),
			[]item{{name: "copy.tar", body: bodyOf(clean, layerPath(t, clean, 1))}}), ""},
		{"a second manifest.json", with(item{name: "manifest.json", body: bodyOf(evil, "manifest.json")}), "is in it twice"},
		{"a second index.json", with(item{name: "./" + "index.json", body: bodyOf(evil, "index.json")}), "is in it twice"},
		{"a second index.json with an absolute path", with(item{name: "/" + "index.json", body: bodyOf(evil, "index.json")}), "is in it twice"},
		{"a second index.json, linked", with(item{name: "index.json", kind: tar.TypeSymlink, link: "x"}), "is in it twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := writeFile(t, tarOf(t, tt.items...))
			for _, prefix := range []string{"", "oci-archive:", "docker-archive:"} {
				if prefix == "docker-archive:" && tt.name == "without manifest.json" {
					continue
				}
				err := load(t.Context(), prefix+p, oci.Options{})
				if tt.want != "" {
					wantFault(t, err, finding.ExitBlock, p, tt.want)
				} else if err != nil {
					t.Errorf("%s%s: exit code %d, %v", prefix, p, fault.ExitCode(err), err)
				}
			}
		})
	}
}

// containerd exports an index whole and leaves the images of other platforms
// out.
func TestTarballOfAnIndexInPart(t *testing.T) {
	t.Parallel()
	config := func(img v1.Image, p *v1.Platform) v1.Image {
		return must(mutate.ConfigFile(img, &v1.ConfigFile{OS: p.OS, Architecture: p.Architecture, RootFS: must(img.ConfigFile()).RootFS}))
	}
	arm := &v1.Platform{OS: "linux", Architecture: "arm64"}
	clean := smallImage(t)
	evil := imageOf(t, layerOf(t, item{name: "payload/evil.exe", body: "x"}))
	const missing = "blob of the image is missing"
	for _, tt := range []struct {
		name      string
		other     v1.Image
		platform  *v1.Platform // of other, in the index
		named     v1.Image     // by manifest.json
		leftOut   bool         // other's manifest
		all, some string       // refusal of all platforms, and of linux/amd64
	}{
		{"all are there", config(clean, arm), arm, clean, false, "", ""},
		{"one is left out", config(clean, arm), arm, clean, true, missing, ""},
		{"Windows is left out", config(evil, windows), windows, clean, true, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := layoutOf(t, clean)
			first, second := putImage(t, dir, tt.other), putImage(t, dir, clean)
			putImage(t, dir, tt.named)
			first.Platform, second.Platform = tt.platform, &linuxAMD64
			putIndex(t, dir, first, second)
			if tt.leftOut {
				if err := os.Remove(filepath.Join(dir, blobIn(first.Digest))); err != nil {
					t.Fatal(err)
				}
			}
			m := must(tt.named.Manifest())
			entry := dockerEntry{Config: blobIn(m.Config.Digest)}
			for _, l := range m.Layers {
				entry.Layers = append(entry.Layers, blobIn(l.Digest))
			}
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), must(json.Marshal([]dockerEntry{entry})), 0o644); err != nil {
				t.Fatal(err)
			}
			p := tarFolder(t, dir)
			for _, o := range []struct {
				platform *v1.Platform
				want     string
			}{{nil, tt.all}, {&linuxAMD64, tt.some}} {
				s, err := oci.Load(t.Context(), p, oci.Options{Platform: o.platform})
				if err == nil {
					_, err = s.Images()
					defer s.Close()
				}
				switch {
				case o.want == "" && err != nil:
					t.Errorf("%v: %v", o.platform, err)
				case o.want == missing:
					wantFault(t, err, finding.ExitBlock, o.want, "--platform linux/amd64")
				case o.want != "":
					wantFault(t, err, finding.ExitBlock, o.want)
				}
			}
		})
	}
}

func layerPath(t *testing.T, items []item, n int) string {
	t.Helper()
	var m []dockerEntry
	if err := json.Unmarshal([]byte(bodyOf(items, "manifest.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m[0].Layers[n]
}
