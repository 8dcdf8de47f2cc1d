//go:build unix

package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

// wantFault checks that err tells a person which folder, and what to do.
func wantFault(t *testing.T, err error, dir string, texts ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Where != dir {
		t.Fatalf("not the fault: %v", err)
	}
	for _, text := range texts {
		if !strings.Contains(f.What+"\n"+f.Fix, text) {
			t.Errorf("no %q: %v", text, err)
		}
	}
}

// A cache is one user's, whatever the umask was.
func TestPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		if _, err := Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, mode := range []fs.FileMode{0o770, 0o702, 0o775 | fs.ModeSetgid} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		wantFault(t, err, dir, "may be written to by others", "--cache-dir")
	}
	if os.Getuid() != 0 {
		return // only root can give a folder away
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, 65533, -1)); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir)
	wantFault(t, err, dir, "belongs to the user 65533", "--cache-dir")
}

func TestClean(t *testing.T) {
	s := newStore(t)
	put(t, s, "hello")
	if err := os.MkdirAll(filepath.Join(s.dir, "git", "clone"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Clean(s.dir), Clean(filepath.Join(s.dir, "none"))); err != nil {
		t.Fatal(err)
	}
	if got := files(t, s.dir); len(got) != 1 || filepath.Base(got[0]) != tagName {
		t.Errorf("left %v", got)
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.WriteFile(filepath.Join(home, "thesis"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(home); err != nil {
		t.Fatal(err)
	}
	wantFault(t, Clean(home), home, "isn't emptied")
	if _, err := os.Stat(filepath.Join(home, "thesis")); err != nil {
		t.Error(err)
	}
}

func TestFileInItsPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(file)
	wantFault(t, err, file, "--cache-dir")
}
