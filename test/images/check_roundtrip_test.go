package images

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// treeOfBodies makes the tree of a test's files.
func treeOfBodies(f payload.Format, files map[string]string) *payload.Tree {
	t := &payload.Tree{Format: f}
	for _, p := range sortedNames(files) {
		t.Files = append(t.Files, payload.File{
			Path: p, SHA256: sumOf(files[p]), Size: int64(len(files[p])),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(files[p])), nil },
		})
	}
	return t
}

// What this package writes, in every form, must pass its own checks.
func TestCheckWhatIsWritten(t *testing.T) {
	t.Parallel()
	stock := stockImage(t, archivedItems(t, map[string]string{"old.exe": "old"}))
	bases := indexOf(t, map[string]v1.Image{"linux/amd64": stock, "linux/arm64": smallImage(t)})
	removes := []string{"payload/sha256sum", "payload/old.exe.tar.gz"}
	for p := range nodeFiles {
		removes = append(removes, "payload/"+p)
	}
	for _, f := range []payload.Format{payload.Flat, payload.Archived} {
		for _, codec := range []string{"gzip", "zstd"} {
			t.Run(string(f)+"/"+codec, func(t *testing.T) {
				tree := treeOfBodies(f, nodeFiles)
				c, err := payload.NewCodec(codec, f)
				if err != nil {
					t.Fatal(err)
				}
				layer := newTestLayer(t, tree, newMemStore(), payload.LayerOptions{Codec: c, Removes: removes})
				single, err := payload.NewImage(layer, payload.ImageOptions{})
				if err != nil {
					t.Fatal(err)
				}
				appended, err := payload.Append(stock, layer, payload.ImageOptions{})
				if err != nil {
					t.Fatal(err)
				}
				index, err := payload.AppendIndex(bases, payload.ImageOptions{}, putting(layer, payload.ImageOptions{}))
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range []oci.ImageOrIndex{single, appended, index} {
					dir, file := filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "image.tar")
					if _, err := oci.WriteLayout(t.Context(), dir, x, nil); err != nil {
						t.Fatal(err)
					}
					if _, err := oci.WriteTarball(t.Context(), file, x, nil); err != nil {
						t.Fatal(err)
					}
					passes(t, f, dir)
					passes(t, f, file)
				}
				dir := filepath.Join(t.TempDir(), "out")
				if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{Store: newMemStore()}); err != nil {
					t.Fatal(err)
				}
				passes(t, f, dir)
			})
		}
	}
}

// passes checks that a reference holds nodeFiles and nothing is wrong.
func passes(t *testing.T, f payload.Format, ref string) {
	t.Helper()
	ps, sum, err := verify.Check(t.Context(), open(t, ref), verify.Options{Expected: expectedOf(f, nodeFiles)})
	if err != nil || len(ps) > 0 {
		t.Errorf("%s: %+v, %v", ref, ps, err)
		return
	}
	for _, i := range sum.Images {
		if len(i.Files) != len(nodeFiles) || i.Format != f {
			t.Errorf("%s: %+v", ref, i)
		}
	}
}
