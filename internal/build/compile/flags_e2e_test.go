//go:build e2e

package compile

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/pe"
	"github.com/winbake/winbake/test/wine"
)

// panics ends in a stack trace through an inlined function, a closure and a
// generic one.
const panics = `package main

import (
	"fmt"
	"os"
	"runtime"
)

var version string

func at() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprint(file, ":", line)
}

func inlined(f func()) { f() }

//go:noinline
func generic[T any](v T) { panic(fmt.Sprint("with ", v)) }

func main() {
	fmt.Println(version, os.Getenv("none"), at())
	inlined(func() { generic(7) })
}
`

// buildPanics builds panics for Windows with these flags.
func buildPanics(t *testing.T, flags ...string) (exe string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.24\n\ngodebug winsymlink=0\n", "main.go": panics} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe = filepath.Join(dir, "x.exe")
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", exe}, flags)...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	for _, s := range gotool.Target("") {
		cmd.Env = append(cmd.Env, s.Name+"="+s.Value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func readPE(t *testing.T, exe string) *pe.File {
	t.Helper()
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	image, err := pe.Read(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// address is what differs between two builds of the same source.
var address = regexp.MustCompile(`\+?0x[0-9a-f]+`)

// Without DWARF a program is what it was: symbols, stamps, GODEBUG, stack traces
// with files and lines, and what is told of its pin.
func TestProgramsWithoutDWARF(t *testing.T) {
	c := &pins.Component{Name: "x", Git: "https://example.com/x", Commit: strings.Repeat("a", 40)}
	stamps := map[string]string{"main.version": "v1.2.3"}
	ours := append(buildFlags(c), "-ldflags="+linkerFlags(stamps))
	usual := slices.DeleteFunc(slices.Clone(ours), func(f string) bool { return strings.HasPrefix(f, "-gcflags") })
	if len(usual) != len(ours)-1 {
		t.Fatalf("nothing to compare with: %q", ours)
	}
	prefix, err := wine.NewPrefix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer prefix.Close()
	want := expect.For(c, &pins.File{Go: strings.TrimPrefix(runtime.Version(), "go")},
		&pins.Locked{Main: "example.com/x", MainModule: "example.com/x", DefaultGODEBUG: readPE(t, buildPanics(t, usual...)).Setting("DefaultGODEBUG")}, stamps)
	var traces, symbols []string
	for _, flags := range [][]string{usual, ours} {
		exe := buildPanics(t, flags...)
		for _, f := range want.Check("x.exe", readPE(t, exe)) {
			if f.Severity != finding.Pass {
				t.Errorf("%q: %s %s: %s, not %s", flags, f.Severity, f.ID, f.Observed, f.Expected)
			}
		}
		run, err := prefix.Run(t.Context(), exe)
		if err != nil || run.Exit != 2 {
			t.Fatalf("%q: exit %d, %v\n%s", flags, run.Exit, err, run.Text)
		}
		names, err := exec.CommandContext(t.Context(), "go", "tool", "nm", "-sort=name", exe).Output()
		if err != nil {
			t.Fatal(err)
		}
		traces, symbols = append(traces, address.ReplaceAllString(run.Text, "")), append(symbols, namesOf(string(names)))
	}
	for _, line := range []string{"v1.2.3", "example.com/x/main.go:22", "panic: with 7", "main.generic[", "example.com/x/main.go:19", "main.inlined(", "example.com/x/main.go:16"} {
		if !strings.Contains(traces[1], line) {
			t.Errorf("no %s in\n%s", line, traces[1])
		}
	}
	if traces[0] != traces[1] {
		t.Errorf("another trace without DWARF:\n%s\nwith it:\n%s", traces[1], traces[0])
	}
	if symbols[0] != symbols[1] {
		t.Error("other symbols without DWARF")
	}
}

// namesOf drops the addresses of `go tool nm`.
func namesOf(nm string) string {
	var b strings.Builder
	for line := range strings.Lines(nm) {
		f := strings.Fields(line)
		b.WriteString(strings.Join(f[len(f)-2:], " ") + "\n")
	}
	return b.String()
}

// lyingCompiler is a gcc that says yes, and writes what it likes.
const lyingCompiler = "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo lies > \"$2\"; shift; done\nexit 0\n"

// No program of the machine decides bytes: a .syso that Go's own linker can't read ends
// the build, where it would be given to gcc.
func TestNoLinkerOfTheMachine(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() {}\n", "x.syso": "no object at all, but some text\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"gcc", "clang", "cc", "x86_64-w64-mingw32-gcc"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(lyingCompiler), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	build := func(more ...string) (string, error) {
		exe := filepath.Join(t.TempDir(), "x.exe")
		host, err := gotool.NewHost(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cmd := host.Tool(gotool.Local).Command(t.Context(), dir, gotool.Target(""), "build", "-ldflags="+linkerFlags(nil), "-o", exe, ".")
		cmd.Env = append(cmd.Env, more...)
		out, err := cmd.CombinedOutput()
		content, _ := os.ReadFile(exe)
		return string(content) + string(out), err
	}
	if text, err := build(); err != nil || !strings.Contains(text, "lies") {
		t.Fatalf("the test proves nothing, gcc isn't asked: %v\n%s", err, text)
	}
	if text, err := build(noPrograms); err == nil || strings.Contains(text, "lies") {
		t.Errorf("gcc is asked: %v\n%s", err, text)
	}
}
