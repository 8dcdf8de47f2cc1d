//go:build e2e

package readers

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
)

// unshare is what a tool with a store of its own needs where the user isn't root.
func unshare(tool string) []string {
	if os.Geteuid() == 0 {
		return nil
	}
	return []string{tool, "unshare"}
}

// store is an empty store of images for podman or buildah. Its files may belong
// to other users, so the tool removes them.
func store(t *testing.T, tool string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "readers-") //nolint:usetesting // which would remove it itself
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := sh(context.WithoutCancel(t.Context()), unshare(tool), `rm -rf "$1"`, dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// vfs is a store that needs nothing of the machine. Both tools make a name of the
// path that is given, which may have no capitals: they get the last part.
const vfs = ` --root "$2/root" --runroot "$2/run" --storage-driver vfs `

func podman(t *testing.T, img image) (listing, error) {
	return folder(t.Context(), unshare("podman"), `cd "${1%/*}"
		id=$(podman`+vfs+`pull -q "oci:${1##*/}")
		root=$(podman`+vfs+`image mount "$id")
		cd "$root"`, img.dir, store(t, "podman"))
}

func buildah(t *testing.T, img image) (listing, error) {
	return folder(t.Context(), unshare("buildah"), `cd "${1%/*}"
		id=$(buildah`+vfs+`from -q "oci:${1##*/}")
		root=$(buildah`+vfs+`mount "$id")
		cd "$root"`, img.dir, store(t, "buildah"))
}

func umoci(t *testing.T, img image) (listing, error) {
	return folder(t.Context(), nil, `umoci unpack --rootless --image "$1" "$2"
		cd "$2/rootfs"`, img.dir, filepath.Join(t.TempDir(), "bundle"))
}

// skopeo shows no files: what it makes of an image is read.
func skopeo(t *testing.T, img image) (listing, error) {
	archive := filepath.Join(t.TempDir(), "image.tar")
	if _, err := sh(t.Context(), nil, `skopeo copy -q "oci:$1" "oci-archive:$2"`, img.dir, archive); err != nil {
		return nil, err
	}
	return walk(t.Context(), archive)
}

// dockerArchive is the format of `docker load`.
func dockerArchive(t *testing.T, img image) (listing, error) {
	archive := filepath.Join(t.TempDir(), "image.tar")
	if _, err := sh(t.Context(), nil, `skopeo copy -q "oci:$1" "docker-archive:$2:me/payload:1"`, img.dir, archive); err != nil {
		return nil, err
	}
	return walk(t.Context(), archive)
}

func winbake(t *testing.T, img image) (listing, error) { return walk(t.Context(), img.dir) }

// dockerRegistry shows no files either.
func dockerRegistry(t *testing.T, img image) (listing, error) { return walk(t.Context(), img.remote) }

func walk(ctx context.Context, ref string) (listing, error) {
	s, err := oci.Load(ctx, ref, oci.Options{Insecure: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l := listing{}
	return l, rootfs.Walk(ctx, s, rootfs.Options{Roots: []string{"payload", "usr", "winbake"}}, func(e *rootfs.Entry) error {
		if e.Mode.IsDir() {
			l[e.Path+"/"] = ""
			return nil
		}
		sum := sha256.New()
		_, err := io.Copy(sum, e.Content)
		l[e.Path] = fmt.Sprintf("%x", sum.Sum(nil))
		return err
	})
}

// crane is go-containerregistry's command of the version that a module names.
func crane(module string) func(*testing.T, image) (listing, error) {
	var once sync.Once
	return func(t *testing.T, img image) (listing, error) {
		program := filepath.Join(programs.Path(t), "crane-"+filepath.Base(module))
		once.Do(func() {
			if _, err := sh(t.Context(), nil, `go build -C "$1" -trimpath -o "$2" github.com/google/go-containerregistry/cmd/crane`, module, program); err != nil {
				t.Error(err)
			}
		})
		out, err := sh(t.Context(), nil, `"$1" export --insecure "$2" -`, program, img.remote)
		if err != nil {
			return nil, err
		}
		return unpacked(strings.NewReader(out))
	}
}
