package images

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winbake/winbake/internal/base/atomicfs"
	"github.com/winbake/winbake/payload"
)

func TestWriteDir(t *testing.T) {
	// Modes are a payload's, whatever the umask.
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	files := sampleFiles()
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		for _, store := range []payload.Store{newMemStore()} {
			dir := filepath.Join(t.TempDir(), "sub", "payload")
			tree, _ := treeOf(format, files)
			tree.Kept = []payload.KeptFile{{Path: "kept.exe", SHA256: sumOf("kept")}} // which isn't at hand
			var done, total int64
			for range 2 { // into nothing, and over what was written
				if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{Store: store, Progress: func(d, all int64) { done, total = d, all }}); err != nil {
					t.Fatal(err)
				}
			}
			if done != tree.Size() || total != tree.Size() {
				t.Errorf("%s: progress %d of %d", format, done, total)
			}
			wantPayloadDir(t, dir, format, files)
			if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
				t.Errorf("%s: left beside it: %v", format, entries)
			}
		}
	}
}

func wantPayloadDir(t *testing.T, dir string, format payload.Format, files map[string]string) {
	t.Helper()
	if format == payload.Archived {
		script := `cd "$1" && find . -name '*.gz' | while read f; do tar -C "$(dirname "$f")" -xzf "$f"; done && sha256sum --quiet --strict -c sha256sum`
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", dir).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	for p, body := range files {
		if got, err := os.ReadFile(filepath.Join(dir, p)); err != nil || string(got) != body {
			t.Errorf("%s: %s: %d bytes, %v", format, p, len(got), err)
		}
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o644)
		if d.IsDir() {
			want = fs.ModeDir | 0o755
		}
		if d.Name() == payload.GeneratedName {
			want = fs.ModeDir | 0o777
		}
		if err == nil && info.Mode() != want && (format == payload.Flat || d.IsDir()) {
			t.Errorf("%s: %s has the mode %s", format, p, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteDirRefuses(t *testing.T) {
	tests := []struct {
		name string
		harm func(dir string) error
		want string
	}{
		{"somebody's folder", func(dir string) error {
			return errorsOf(os.RemoveAll(dir), os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644))
		}, "has no generated/"},
		{"somebody's file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600) }, "notes has the mode -rw-------"},
		{"a link", func(dir string) error { return os.Symlink("a.exe", filepath.Join(dir, "b.exe")) }, "b.exe has the mode L"},
		{"a program", func(dir string) error { return os.Chmod(filepath.Join(dir, "a.exe"), 0o755) }, "a.exe has the mode -rwxr-xr-x"},
		{"generated files", func(dir string) error { return os.WriteFile(filepath.Join(dir, "generated", "x.ps1"), nil, 0o644) }, "generated/x.ps1 has the mode"},
		{"a file", func(dir string) error { return errorsOf(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }, "can't be written"},
	}
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": "a"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "payload")
			if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := tt.harm(dir); err != nil {
				t.Fatal(err)
			}
			before := fmt.Sprint(filesOf(t, filepath.Dir(dir)))
			wantFault(t, payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{}), 1, tt.want, dir)
			if after := fmt.Sprint(filesOf(t, filepath.Dir(dir))); after != before {
				t.Errorf("files %s, before %s", after, before)
			}
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestWriteDirIsAllOrNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "payload")
	good, _ := treeOf(payload.Flat, map[string]string{"a.exe": "good", "z.exe": "good"})
	if err := payload.WriteDir(t.Context(), dir, good, payload.DirOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, format := range []payload.Format{payload.Flat, payload.Archived} {
		for _, store := range []payload.Store{newMemStore()} {
			bad, _ := treeOf(format, map[string]string{"a.exe": "other", "z.exe": "other"})
			bad.Files[1].SHA256 = strings.Repeat("0", 64)
			checkText(t, payload.WriteDir(t.Context(), dir, bad, payload.DirOptions{Store: store}), []string{"isn't what was built"})
			if got, err := os.ReadFile(filepath.Join(dir, "a.exe")); err != nil || string(got) != "good" {
				t.Errorf("%s: a.exe is %q, %v", format, got, err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
				t.Errorf("%s: left beside it: %v", format, entries)
			}
		}
	}
}

func TestWriteDirRemovesLeftovers(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "payload")
	for _, name := range []string{".payload" + ".winbake-" + "1/a", ".payload" + ".winbake-" + "2/busy", ".payload2" + ".winbake-" + "3/other"} {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	unlock, err := atomicfs.LockDir(t.Context(), filepath.Join(parent, ".payload"+".winbake-"+"2"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock() //nolint:errcheck // of a test
	tree, _ := treeOf(payload.Flat, map[string]string{"a.exe": "a"})
	if err := payload.WriteDir(t.Context(), dir, tree, payload.DirOptions{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := ".payload" + ".winbake-" + "2 .payload2" + ".winbake-" + "3 payload"; strings.Join(got, " ") != want {
		t.Errorf("left %q, want %q", got, want)
	}
}
