package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
)

// Only what is packed has its texts in an image; a lock of an older bake has none.
func TestLicenseTexts(t *testing.T) {
	file := &pins.File{Path: filepath.Join(t.TempDir(), "versions.yaml")}
	texts := pins.LicenseTexts{}
	job := func(name string, ids ...string) *Job {
		return &Job{Component: &pins.Component{Name: name, Module: "example.com/" + name, Package: "."},
			Locked: &pins.Locked{Modules: []pins.LockedModule{{Path: "example.com/" + name, Version: "v1.0.0", Texts: ids}}}}
	}
	a, b, old := job("a", texts.Add([]byte("of a"))), job("b", texts.Add([]byte("of b"))), job("old")
	all, err := texts.Encode([]*pins.Locked{a.Locked, b.Locked})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(file.LockDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(file.LockDir(), pins.LicensesName), all, 0o644); err != nil {
		t.Fatal(err)
	}
	data, without, err := LicenseTexts(file, []*Job{a, old})
	if text := string(data); err != nil || without != 1 || !strings.Contains(text, "of a\n") || strings.Contains(text, "of b\n") {
		t.Errorf("%q, %d, %v", data, without, err)
	}
	if data, without, err := LicenseTexts(file, []*Job{old}); data != nil || without != 1 || err != nil {
		t.Errorf("%q, %d, %v", data, without, err)
	}
	if _, without, err := LicenseTexts(file, []*Job{{Component: &pins.Component{File: "x"}, Locked: &pins.Locked{}}}); without != 0 || err != nil {
		t.Errorf("a file that is carried: %d, %v", without, err)
	}
}
