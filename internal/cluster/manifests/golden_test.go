package manifests

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs:\n got: %s\nwant: %s", path, got, want)
	}
}

// declared are the services of a versions.yaml of this repository.
func declared(t *testing.T, path string) []winsvc.Service {
	t.Helper()
	f, err := pins.Load(filepath.Join("../../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return f.Definitions()
}
