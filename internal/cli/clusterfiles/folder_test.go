package clusterfiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

var twoFiles = []csidriver.File{{Name: "01-a.yaml", Data: []byte("a: 1\n")}, {Name: "more/02-b.yaml", Data: []byte("b: 2\n")}}

// names are what a folder holds.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteFolder(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "new", "out")
	for range 2 { // the second time all is there
		if err := writeFolder(t.Context(), dir, twoFiles); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := names(t, filepath.Dir(dir)); len(got) != 1 {
		t.Errorf("left beside it: %v", got)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestWriteFolderKeepsTheFolder: an empty folder stays the one that it is, for
// a shell that is in it too, with its rights, and a link stays a link.
func TestWriteFolderKeepsTheFolder(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Beside a link of this name nothing can be made that is named after it.
	link := filepath.Join(parent, strings.Repeat("l", 250))
	if err := os.Symlink("out", link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, out := range []string{".", link} {
		if err := writeFolder(t.Context(), out, twoFiles); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(dir)
		if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
			t.Errorf("%s: %v became %v, %v", out, before.Mode(), after.Mode(), err)
		}
		if got := names(t, "."); len(got) != 2 {
			t.Errorf("%s: %v", out, got)
		}
		if got, err := os.Readlink(link); err != nil || got != "out" {
			t.Errorf("%s: the link became %q, %v", out, got, err)
		}
		for _, name := range names(t, dir) {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := names(t, parent); len(got) != 2 {
		t.Errorf("left beside it: %v", got)
	}
}

// TestMoveOrNothing: a file that can't be moved takes those before it back, and
// the folder that was made for them.
func TestMoveOrNothing(t *testing.T) {
	for name, there := range map[string]bool{"a file in its place": false, "a folder that is there": true} {
		from, to := t.TempDir(), filepath.Join(t.TempDir(), "out")
		for _, file := range []string{"01-a.yaml", "02-b.yaml"} {
			if err := os.WriteFile(filepath.Join(from, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var before []string
		if there {
			// A folder that isn't empty can't be renamed over.
			if err := os.MkdirAll(filepath.Join(to, "02-b.yaml", "own"), 0o700); err != nil {
				t.Fatal(err)
			}
			before = names(t, to)
		} else if err := os.WriteFile(to, nil, 0o600); err != nil { // nor can a file be a folder
			t.Fatal(err)
		}
		if err := move(from, to); err == nil {
			t.Errorf("%s: no error", name)
		}
		if there && !slices.Equal(names(t, to), before) {
			t.Errorf("%s: left %v", name, names(t, to))
		}
	}
}

// TestWriteFolderStopped: a run that is stopped leaves nothing at all.
func TestWriteFolderStopped(t *testing.T) {
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeFolder(ctx, filepath.Join(parent, "out"), twoFiles); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := names(t, parent); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestWriteFolderRefuses(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"a changed file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "more", "02-b.yaml"), []byte("b: 3\n"), 0o600)
		},
		"another file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "own.yaml"), nil, 0o600) },
		"a file less":  func(dir string) error { return os.Remove(filepath.Join(dir, "more", "02-b.yaml")) },
		"a folder":     func(dir string) error { return os.Mkdir(filepath.Join(dir, "01-c"), 0o700) },
		"a file below": func(dir string) error { return os.WriteFile(filepath.Join(dir, "more", "own.yaml"), nil, 0o600) },
		"a folder in place of a file": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "01-a.yaml")), os.Mkdir(filepath.Join(dir, "01-a.yaml"), 0o700))
		},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := writeFolder(t.Context(), dir, twoFiles); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		before := names(t, dir)
		err := writeFolder(t.Context(), dir, twoFiles)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
		if after := names(t, dir); len(after) != len(before) {
			t.Errorf("%s: %v became %v", name, before, after)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeFolder(t.Context(), filepath.Join(file, "out"), twoFiles); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
}
