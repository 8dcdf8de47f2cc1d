package mustgather

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// files are a must-gather's files by path.
type files map[string]string

// folder writes fs below a new folder.
func (fs files) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range fs {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A link that leads out of the folder isn't followed.
func TestLinksArentFollowed(t *testing.T) {
	dir, elsewhere := gathered().folder(t), files{"shop/core/pods.yaml": "no YAML: [", "shop/shop.yaml": "no YAML: ["}.folder(t)
	for _, link := range [][2]string{{elsewhere, "namespaces/linked"}, {elsewhere + "/shop/core/pods.yaml", "namespaces/shop/core/replicasets.yaml"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	wantWhole(t, dir)
}
