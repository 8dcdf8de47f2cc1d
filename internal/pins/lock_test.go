package pins

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/fault"
)

func TestModuleLines(t *testing.T) {
	for _, m := range []LockedModule{
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"MIT"}},
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"Apache-2.0", "MIT"}},
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Replace: &ModuleVersion{"d.e/f", "v0.1.0"}, Licenses: []string{"MIT"}},
		{Path: "a.b/c", Version: "v0.0.0", Replace: &ModuleVersion{"./staging/c", ""}},
		{Path: "a.b/c", Version: "v1.0.0"},
	} {
		text, err := m.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back LockedModule
		if err := back.UnmarshalText(text); err != nil || !reflect.DeepEqual(m, back) {
			t.Errorf("%s came back as %+v, %v", text, back, err)
		}
	}
	for _, bad := range []string{"", "a", "a b c", "a b c d e", "a b => c d e"} {
		if err := new(LockedModule).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// project is a versions.yaml with one locked program.
func project(t *testing.T) (*File, *Lock) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "versions.yaml")
	f, err := Parse(path, []byte("apiVersion: winbake.dev/v1\nrelease: \"4.20\"\ngo: \"1.26.8\"\ncomponents:\n"+
		"  - {name: x, module: example.com/x, version: \"v1.0.0\", package: ./cmd/x, payload: x.exe}\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := &Lock{Components: map[string]*Locked{"x": {
		Pin: f.Components[0].PinDigest(f), Module: "example.com/x", Version: "v1.0.0", Sum: "h1:a=", Date: "2025-01-01T00:00:00Z",
		GoMod:   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", // of nothing
		GoSum:   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		Modules: []LockedModule{{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"MIT"}}},
	}}}
	for _, name := range []string{"go.mod", "go.sum"} {
		write(t, filepath.Join(f.LockDir(), "x", name), "")
	}
	return f, l
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLockRoundTrip(t *testing.T) {
	f, l := project(t)
	if err := l.Write(f.LockDir()); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(f.LockDir(), lockName))
	if err != nil {
		t.Fatal(err)
	}
	back, err := LoadLock(f)
	if err != nil || !reflect.DeepEqual(l, back) {
		t.Fatalf("came back as %+v, %v", back.Components["x"], err)
	}
	if err := back.Write(f.LockDir()); err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(f.LockDir(), lockName))
	if err != nil || string(first) != string(second) {
		t.Errorf("a second write gave other bytes: %v", err)
	}
	if stale := back.Check(f); len(stale) != 0 {
		t.Errorf("a fresh lock is stale: %v", stale)
	}
}

func TestLockCheck(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(*testing.T, *File, *Lock)
		reason string
	}{
		"never locked": {func(_ *testing.T, _ *File, l *Lock) { delete(l.Components, "x") }, "never locked"},
		"pin changed":  {func(_ *testing.T, f *File, _ *Lock) { f.Components[0].Version = "v1.0.1" }, "pin has changed"},
		"toolchain":    {func(_ *testing.T, f *File, _ *Lock) { f.Go = "1.24.9" }, "pin has changed"},
		"go.mod edited": {func(t *testing.T, f *File, _ *Lock) {
			write(t, filepath.Join(f.LockDir(), "x/go.mod"), "edited")
		}, "go.mod isn't the one"},
		"go.sum gone": {func(t *testing.T, f *File, _ *Lock) {
			if err := os.Remove(filepath.Join(f.LockDir(), "x/go.sum")); err != nil {
				t.Fatal(err)
			}
		}, "go.sum is missing"},
		"of a git program, without its module": {func(_ *testing.T, f *File, l *Lock) {
			f.Components[0] = Component{Name: "x", Git: "https://example.com/x", Commit: strings.Repeat("a", 40), Package: "./cmd/x", Payload: "x.exe"}
			l.Components["x"].Pin, l.Components["x"].Main = f.Components[0].PinDigest(f), "example.com/x/cmd/x"
		}, "which module it is"},
		"left over": {func(_ *testing.T, _ *File, l *Lock) { l.Components["y"] = &Locked{} }, "doesn't have it"},
	} {
		t.Run(name, func(t *testing.T) {
			f, l := project(t)
			c.spoil(t, f, l)
			stale := l.Check(f)
			if len(stale) != 1 || !strings.Contains(stale[0].Reason, c.reason) {
				t.Fatalf("stale: %v, want %q", stale, c.reason)
			}
			err := StaleError(f, stale)
			if fault.ExitCode(err) != 3 || !strings.Contains(err.Error(), "fix: bake lock -f "+f.Path) {
				t.Errorf("code %d: %v", fault.ExitCode(err), err)
			}
		})
	}
}

func TestLoadLockRefuses(t *testing.T) {
	f, l := project(t)
	if _, err := LoadLock(f); fault.ExitCode(err) != 3 || !strings.Contains(err.Error(), "bake lock") {
		t.Errorf("a missing lock: %v", err)
	}
	if err := l.Write(f.LockDir()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(f.LockDir(), lockName))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"cut":          string(data[:len(data)/2]) + "\n  [",
		"unknown key":  string(data) + "\nmore: true\n",
		"other format": strings.Replace(string(data), APIVersion, "winbake.dev/v9", 1),
	} {
		write(t, filepath.Join(f.LockDir(), lockName), bad)
		if _, err := LoadLock(f); fault.ExitCode(err) != 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseLock(f *testing.F) {
	data, err := os.ReadFile("../../versions.lock/lock.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:4000])
	f.Add([]byte("apiVersion: winbake.dev/v1\ncomponents:\n  x:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseLock(data)
		if err == nil && l.Components == nil {
			t.Error("a lock without components")
		}
	})
}

func BenchmarkLoadLock(b *testing.B) {
	data, err := os.ReadFile("../../versions.lock/lock.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := parseLock(data); err != nil {
			b.Fatal(err)
		}
	}
}
