package template

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

func folder(t *testing.T, platform string) *Folder {
	t.Helper()
	return mustRender(t, Options{Platform: platform, WithoutPayload: true})
}

func TestWrite(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"no folder":    func(string) error { return nil },
		"an empty one": func(dir string) error { return os.MkdirAll(dir, 0o700) },
		"a link": func(dir string) error {
			return errors.Join(os.MkdirAll(dir+".real", 0o755), os.Symlink(dir+".real", dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir, f := filepath.Join(parent, "image"), folder(t, "vsphere-iso")
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			if err := Write(t.Context(), dir, f); err != nil {
				t.Fatal(err)
			}
			if n := len(tree(t, dir+string(filepath.Separator))); n != len(f.Files) {
				t.Errorf("%d files, want %d", n, len(f.Files))
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != dirMode {
				t.Errorf("the folder's rights: %v %v", info, err)
			}
			nothingLeft(t, parent)
		})
	}
}

func nothingLeft(t *testing.T, parent string) {
	t.Helper()
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), tempPrefix) {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

// TestWriteRefuses: what is in a folder stays as it is.
func TestWriteRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	if err := Write(t.Context(), dir, folder(t, "vsphere-iso")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	err := Write(t.Context(), dir, folder(t, "amazon-ebs"))
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.What, "isn't empty") || !strings.Contains(f.Fix, "--out") {
		t.Errorf("have %v", err)
	}
	if after := tree(t, dir); !maps.Equal(after, before) {
		t.Errorf("the folder was touched: %v", after)
	}
	nothingLeft(t, filepath.Dir(dir))
}

// tree is each file of a folder with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		all[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWriteEndsWithItsContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(ctx, dir, folder(t, "qemu")); !errors.Is(err, context.Canceled) {
		t.Errorf("have %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	nothingLeft(t, filepath.Dir(dir))
}

func TestCantWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "image")} {
		var f *fault.Error
		if err := Write(t.Context(), dir, folder(t, "qemu")); !errors.As(err, &f) || f.Fix == "" {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
