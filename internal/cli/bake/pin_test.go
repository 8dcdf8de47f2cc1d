package bake

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
)

func TestReplacePins(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "versions.yaml")
	err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink("real.yaml", link))
	if err != nil {
		t.Fatal(err)
	}
	locked := 0
	lock := func() error { locked++; return nil }
	if err := replacePins(link, []byte("old"), []byte("new"), lock); err != nil {
		t.Fatal(err)
	}
	wantPins(t, file, "new")
	if target, err := os.Readlink(link); err != nil || target != "real.yaml" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	err = replacePins(link, []byte("old"), []byte("newer"), lock)
	if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.What, "changed while") || f.Fix == "" {
		t.Errorf("%v", err)
	}
	wantPins(t, file, "new")
	if locked != 1 {
		t.Errorf("the lock was written %d times, also for a pin that wasn't", locked)
	}
}

func wantPins(t *testing.T, path, want string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%q, %v; want %q", data, err, want)
	}
}

// --only "a, b" names two components, and a last comma none.
func TestTrimmed(t *testing.T) {
	if got := trimmed([]string{"a", " b ", ""}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}
