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

func TestWriteAndAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "image")
	for _, platform := range []string{"vsphere-iso", "vsphere-clone"} {
		f := folder(t, platform)
		if err := Write(t.Context(), dir, f); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		if err != nil || n != len(f.Files)+1 {
			t.Errorf("%s: %d files, want %d and the record: %v", platform, n, len(f.Files), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "answers", "autounattend.xml.pkrtpl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of the platform before is left: %v", err)
	}
	nothingLeft(t, filepath.Dir(dir))
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

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"somebody's folder": {func(dir string) error { return os.Remove(filepath.Join(dir, recordName)) }, "isn't a template folder"},
		"a strange record":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, recordName), []byte("x"), 0o600) }, "isn't a template folder"},
		"another file of a name": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "scripts", "user-data.ps1"), nil, 0o600)
		}, "a file of the template has its name"},
		"a changed file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "README.md"), []byte("mine"), 0o600) }, "was changed since"},
		"a link": {func(dir string) error {
			name := filepath.Join(dir, "README.md")
			return errors.Join(os.Rename(name, dir+".md"), os.Symlink(dir+".md", name))
		}, "isn't one that was written here"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "image")
			if err := Write(t.Context(), dir, folder(t, "vsphere-iso")); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			err := Write(t.Context(), dir, folder(t, "amazon-ebs"))
			var f *fault.Error
			if !errors.As(err, &f) || !strings.Contains(f.What, c.want) || f.Fix == "" {
				t.Errorf("want %q with a fix, have %v", c.want, err)
			}
			if after := tree(t, dir); !maps.Equal(after, before) {
				t.Errorf("the folder was touched: %v", after)
			}
			nothingLeft(t, filepath.Dir(dir))
		})
	}
}

// tree is each file of a folder with its content, or where it points.
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
		if target, err := os.Readlink(name); err == nil {
			all[rel] = "-> " + target
			return nil
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

// What a user has put beside the template, and what a build left there, is
// there after the next run: values, a manifest, Packer's cache.
func TestWriteKeepsOtherFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "image")
	if err := Write(t.Context(), dir, folder(t, "vsphere-iso")); err != nil {
		t.Fatal(err)
	}
	mine := map[string]string{"values.pkrvars.hcl": "cpus = 8\n", "windows.node.json": "{}", "packer_cache/port/8000": "", "scripts/own.ps1": "exit 0"}
	for name, text := range mine {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/isos/windows.iso", filepath.Join(dir, "windows.iso")); err != nil {
		t.Fatal(err)
	}
	mine["windows.iso"] = "-> /isos/windows.iso"
	for range 2 {
		f := folder(t, "qemu")
		if err := Write(t.Context(), dir, f); err != nil {
			t.Fatal(err)
		}
		after := tree(t, dir)
		for name, text := range mine {
			if after[name] != text {
				t.Errorf("%s is %q, want %q", name, after[name], text)
			}
		}
		if len(after) != len(f.Files)+1+len(mine) {
			t.Errorf("%d files, want the template's %d, the record and %d others", len(after), len(f.Files), len(mine))
		}
	}
	info, err := os.Stat(filepath.Join(dir, "values.pkrvars.hcl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the values' rights: %v %v", info, err)
	}
	nothingLeft(t, filepath.Dir(dir))
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
