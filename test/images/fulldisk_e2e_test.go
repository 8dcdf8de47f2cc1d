//go:build e2e

package images

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

// A small file system, since root writes into folders of any mode.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Fatalf("mount a small tmpfs: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	img := payloadImage(t, 1)
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": programLike(1, 3<<20)})
	file, layoutDir, plain := filepath.Join(dir, "image.tar"), filepath.Join(dir, "layout"), filepath.Join(dir, "payload")
	_, terr := oci.WriteTarball(t.Context(), file, img, nil)
	_, lerr := oci.WriteLayout(t.Context(), layoutDir, img, nil)
	derr := payload.WriteDir(t.Context(), plain, tree, payload.DirOptions{})
	for where, err := range map[string]error{file: terr, layoutDir: lerr, plain: derr} {
		wantFault(t, err, 1, where, "no space left on device")
	}
	for _, f := range filesOf(t, dir) {
		if f != "layout/oci-layout" && !strings.HasPrefix(f, "layout/blobs/sha256/") || strings.Contains(f, ".winbake-") {
			t.Errorf("%s was left", f)
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a tarball: %v", err)
	}
}
