package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
)

func TestModuleLines(t *testing.T) {
	for _, m := range []LockedModule{
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"MIT"}},
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"Apache-2.0", "MIT"}},
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Replace: &ModuleVersion{"d.e/f", "v0.1.0"}, Licenses: []string{"MIT"}},
		{Path: "a.b/c", Version: "v0.0.0", Replace: &ModuleVersion{"./staging/c", ""}},
		{Path: "a.b/c", Version: "v1.0.0"},
		{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"MIT"}, Texts: []string{"0123456789abcdef"}},
		{Path: "a.b/c", Version: "v1.0.0", Replace: &ModuleVersion{"d.e/f", "v0.1.0"}, Texts: []string{"00", "01"}},
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
	for _, bad := range []string{"", "a", "a b c", "a b c d e f", "a b => c d e"} {
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
	mod := "module winbake.dev/x\n\nrequire example.com/x v1.0.0\n"
	sums := "example.com/x v1.0.0 h1:a=\nexample.com/x v1.0.0/go.mod h1:b=\n"
	l := &Lock{Components: map[string]*Locked{"x": {
		Pin: f.Components[0].PinDigest(f), Module: "example.com/x", Version: "v1.0.0", Sum: "h1:a=", Commit: strings.Repeat("ab", 20),
		Toolchain: "go1.26.8", GoMod: hexSum(mod), GoSum: hexSum(sums),
		Modules: []LockedModule{{Path: "a.b/c", Version: "v1.0.0", Sum: "h1:x=", Licenses: []string{"MIT"}}},
	}}}
	l.Seal("x", l.Components["x"])
	write(t, filepath.Join(f.LockDir(), "x/go.mod"), mod)
	write(t, filepath.Join(f.LockDir(), "x/go.sum"), sums)
	return f, l
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
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
	if err != nil || !reflect.DeepEqual(l.Components, back.Components) {
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
		"another module":    {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Module = "github.com/evil/x" }, "module github.com/evil/x, its pin example.com/x"},
		"another version":   {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Version = "v0.9.0" }, "version v0.9.0, its pin v1.0.0"},
		"no version":        {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Version = "" }, "version none, its pin v1.0.0"},
		"another toolchain": {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Toolchain = "go1.20.0" }, "toolchain go1.20.0, its pin go1.26.8"},
		"another commit":    {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Commit = "deadbeef" }, "commit deadbeef"},
		"a git source too":  {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Git = "https://example.com/x" }, "git https://example.com/x, its pin none"},
		"a file's sum too":  {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].SHA256 = strings.Repeat("a", 64) }, "sha256 aaaa"},
		"no sum of go.mod":  {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].GoMod = "" }, "which go.mod"},
		"no sum of go.sum":  {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].GoSum = "" }, "which go.sum"},
		"another h1":        {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Sum = "h1:b=" }, "different sums of example.com/x v1.0.0"},
		"no h1":             {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Sum = "" }, "different sums"},
		"of another version's files": {func(t *testing.T, f *File, l *Lock) {
			mod := "module winbake.dev/x\n\nrequire example.com/x v0.9.0\n"
			write(t, filepath.Join(f.LockDir(), "x/go.mod"), mod)
			l.Components["x"].GoMod = hexSum(mod)
		}, "doesn't require example.com/x v1.0.0"},
		"a date":    {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Date = Epoch }, "only a git source can prove"},
		"a go line": {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].GoLine = "1.20" }, "it has another digest"},
		"no digest": {func(_ *testing.T, _ *File, l *Lock) { l.Components["x"].Digest = "" }, "its lock has no digest"},
		"a left-over folder": {func(t *testing.T, f *File, _ *Lock) {
			write(t, filepath.Join(f.LockDir(), "old/go.mod"), "module old\n")
		}, "doesn't have it"},
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

// lockOf is a lock of one component, and what it means.
func lockOf(t *testing.T, c Component, locked Locked) (*File, *Lock) {
	t.Helper()
	f := &File{Path: filepath.Join(t.TempDir(), "versions.yaml"), Go: "1.26.8", Components: []Component{c}}
	locked.Pin = c.PinDigest(f)
	l := &Lock{Components: map[string]*Locked{}}
	l.Seal(c.Name, &locked)
	return f, l
}

func TestLockCheckOfOtherSources(t *testing.T) {
	const url = "https://example.com/x"
	commit, sum := strings.Repeat("a", 40), strings.Repeat("b", 64)
	file, fileLock := Component{Name: "x", File: "a", SHA256: sum, Payload: "x"}, Locked{SHA256: sum}
	tree, treeLock := Component{Name: "x", Git: url, Commit: commit, Path: "a", Payload: "x"}, Locked{Git: url, Commit: commit, SHA256: sum}
	program := Component{Name: "x", Git: url, Commit: commit, Package: "./cmd/x", Payload: "x.exe"}
	programLock := Locked{Git: url, Commit: commit, Toolchain: "go1.26.8", Vendored: true, Main: "example.com/x/cmd/x", MainModule: "example.com/x"}
	for name, c := range map[string]struct {
		component Component
		locked    Locked
		spoil     func(*Locked)
		reason    string
	}{
		"a file":                          {file, fileLock, func(*Locked) {}, ""},
		"a file, another sum":             {file, fileLock, func(l *Locked) { l.SHA256 = strings.Repeat("c", 64) }, "sha256 ccc"},
		"a file, a commit":                {file, fileLock, func(l *Locked) { l.Commit = commit }, "commit aaa"},
		"a tree's file":                   {tree, treeLock, func(*Locked) {}, ""},
		"a tree's file, another commit":   {tree, treeLock, func(l *Locked) { l.Commit = strings.Repeat("c", 40) }, "commit ccc"},
		"a tree's file, no commit":        {tree, treeLock, func(l *Locked) { l.Commit = "" }, "commit none"},
		"a tree's file, another tree":     {tree, treeLock, func(l *Locked) { l.Git = "https://evil.example.com/x" }, "git https://evil.example.com/x, its pin " + url},
		"a tree's file, no sum":           {tree, treeLock, func(l *Locked) { l.SHA256 = "" }, "sha256 none"},
		"a tree's file, a toolchain":      {tree, treeLock, func(l *Locked) { l.Toolchain = "go1.26.8" }, "toolchain go1.26.8, its pin none"},
		"a program":                       {program, programLock, func(*Locked) {}, ""},
		"a program, another commit":       {program, programLock, func(l *Locked) { l.Commit = strings.Repeat("c", 40) }, "commit ccc"},
		"a program, no module":            {program, programLock, func(l *Locked) { l.MainModule = "" }, "which module it is"},
		"a program, no package":           {program, programLock, func(l *Locked) { l.Main = "" }, "which module it is"},
		"a program, neither vendored nor": {program, programLock, func(l *Locked) { l.Vendored = false }, "which go.mod"},
	} {
		t.Run(name, func(t *testing.T) {
			c.spoil(&c.locked)
			f, l := lockOf(t, c.component, c.locked) // seals it: what is told here isn't the digest's work
			stale := l.Check(f)
			if c.reason == "" && len(stale) > 0 || c.reason != "" && (len(stale) != 1 || !strings.Contains(stale[0].Reason, c.reason)) {
				t.Errorf("stale: %v, want %q", stale, c.reason)
			}
		})
	}
}

// Every byte of lock.yaml is covered by something, and so is every line.
func TestLockCheckTellsEveryChange(t *testing.T) {
	f, l := project(t)
	l.Components["x"].GoLine, l.Components["x"].Godebug, l.Components["x"].DefaultGODEBUG = "1.24", []string{"winsymlink=0"}, "winsymlink=0"
	l.Seal("x", l.Components["x"])
	if err := l.Write(f.LockDir()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(f.LockDir(), lockName))
	if err != nil {
		t.Fatal(err)
	}
	passes := func(data []byte) bool {
		l, err := parseLock(data)
		return err == nil && (len(l.Check(f)) == 0 || len(l.Check(f, "x")) == 0)
	}
	if !passes(good) {
		t.Fatal("the lock itself doesn't pass")
	}
	for i := range good {
		for _, b := range []byte{good[i] ^ 1, good[i] ^ 0x20, ' ', '\n'} {
			if changed := slices.Concat(good[:i], []byte{b}, good[i+1:]); b != good[i] && passes(changed) {
				t.Errorf("byte %d: %q in place of %q passes", i, b, good[i])
			}
		}
		if passes(slices.Delete(slices.Clone(good), i, i+1)) {
			t.Errorf("byte %d: without %q it passes", i, good[i])
		}
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	for i := range lines[:len(lines)-1] {
		without, twice := slices.Concat(lines[:i], lines[i+1:]), slices.Concat(lines[:i+1], lines[i:])
		if passes(bytes.Join(without, nil)) || passes(bytes.Join(twice, nil)) {
			t.Errorf("line %d, %q: it passes without it or with two", i+1, lines[i])
		}
	}
}

// A module's commit is the proxy's word, unless the pin names it.
func TestLockedCommitOfAModule(t *testing.T) {
	full, other := strings.Repeat("ab", 20), strings.Repeat("cd", 20)
	for _, c := range []struct {
		version, pinned, locked string
		fits                    bool
	}{
		{"v1.0.0", "", "", true},
		{"v1.0.0", "", full, true},
		{"v1.0.0", "", full[:12], false},
		{"v1.0.0", full, full, true},
		{"v1.0.0", full, other, false},
		{"v1.0.0", full, "", false},
		{"v0.0.0-20250101000000-abababababab", "", full, true},
		{"v0.0.0-20250101000000-abababababab", "", "", true},
		{"v0.0.0-20250101000000-abababababab", "", other, false},
		{"v0.0.0-20250101000000-abababababab", "", "abababababab", false},
	} {
		if got := commitFits(&Component{Module: "example.com/x", Version: c.version, Commit: c.pinned}, c.locked); got != c.fits {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The committed locks are of the committed pins.
func TestRepositoryLocksAreCurrent(t *testing.T) {
	locks, err := filepath.Glob("../../../examples/*/versions.lock")
	if err != nil || len(locks) == 0 {
		t.Fatalf("%v, %v", locks, err)
	}
	for _, lock := range append(locks, "../../../versions.lock") {
		f, err := Load(strings.TrimSuffix(lock, ".lock") + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		l, err := LoadLock(f)
		if err != nil {
			t.Fatal(err)
		}
		if stale := l.Check(f); len(stale) > 0 {
			t.Errorf("%s: %v", lock, stale)
		}
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
		"another one":  string(data) + "---\n" + string(data),
		"more":         string(data) + "---\nmore: true\n",
		"no YAML":      string(data) + "---\n[\n",
		"large":        string(data) + strings.Repeat("#", infile.Text),
		"other format": strings.Replace(string(data), APIVersion, "winbake.dev/v9", 1),
	} {
		write(t, filepath.Join(f.LockDir(), lockName), bad)
		if _, err := LoadLock(f); fault.ExitCode(err) != 3 || errors.Is(err, ErrNoLock) == (name == "large") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseLock(f *testing.F) {
	data, err := os.ReadFile("../../../versions.lock/lock.yaml")
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
	data, err := os.ReadFile("../../../versions.lock/lock.yaml")
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
