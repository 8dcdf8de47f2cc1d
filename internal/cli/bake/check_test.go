package bake

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/image/oci"
)

func TestPrecious(t *testing.T) {
	home := filepath.Join(t.TempDir(), "me")
	repo := filepath.Join(t.TempDir(), "repo")
	for _, dir := range []string{home + "/out", home + "/work/deep", repo + "/out"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", link)
	t.Chdir(home + "/work/deep")
	for dir, want := range map[string]string{
		"/": "the root of the file system", "/usr/..": "the root of the file system",
		home: "a home folder, or has one in it", link: "a home folder, or has one in it", filepath.Dir(home): "a home folder, or has one in it",
		"/home/somebody": "a home folder, or has one in it", "/root": "a home folder, or has one in it",
		home + "/work": "the current folder, or has it in it", home + "/work/deep": "the current folder, or has it in it",
		repo: "the root of a git work tree", repo + "/out": "", home + "/out": "", home + "/new": "", "/home/somebody/out": "",
	} {
		if got := precious(dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// What was there is put back where the new can't be written.
func TestSetAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := place{"dir", dir, oci.KindDir}
	for _, written := range []bool{false, true} {
		for _, name := range []string{dir + "/mine", dir + ".winbake/mine"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		keep := &outputOptions{}
		if _, err := keep.setAside(p); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir + "/mine"); err != nil {
			t.Errorf("gone without --overwrite: %v", err)
		}
		done, err := (&outputOptions{overwrite: true}).setAside(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := oci.CheckPlace(p.kind, p.path); err != nil {
			t.Error(err)
		}
		if err := done(written); err != nil {
			t.Error(err)
		}
		for _, name := range []string{dir + "/mine", dir + ".winbake/mine"} {
			if _, err := os.Stat(name); (err != nil) != written {
				t.Errorf("written is %t: %v", written, err)
			}
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// What can't be put back, since something else is there, isn't removed either.
func TestSetAsideKeeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	put := func(name string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o600))
	}
	if err := put(dir + "/mine"); err != nil {
		t.Fatal(err)
	}
	done, err := (&outputOptions{overwrite: true}).setAside(place{"layout", dir, oci.KindLayout})
	if err := errors.Join(err, put(dir+"/half")); err != nil {
		t.Fatal(err)
	}
	if err := done(false); err == nil || !strings.Contains(err.Error(), ".replaced-") {
		t.Errorf("error %v", err)
	}
	if kept, _ := filepath.Glob(filepath.Dir(dir) + "/.out.replaced-*/out/mine"); len(kept) != 1 {
		t.Errorf("kept: %q", kept)
	}
}
