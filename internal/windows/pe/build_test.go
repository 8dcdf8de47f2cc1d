package pe_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

// The program that the tests build. It prints its variables, or the linker
// would drop them.
var program = map[string]string{
	"go.mod": "module example.test/prog\n\ngo 1.23\n\ngodebug winsymlink=0\n",
	"main.go": `package main

import "example.test/prog/lib.v2"

var (
	version string
	preset = "dev"
	never  string
	ver    string
)

func main() { println(version, preset, never, ver, lib.Version) }
`,
	"lib.v2/lib.go": "package lib\n\nvar Version string\n",
}

const stamps = "-X main.version=v1.2.3 -X main.ver=short -X example.test/prog/lib.v2.Version=dotted"

// target is one way to build the program.
type target struct{ goos, goarch, ldflags string }

var (
	stamped  = target{"windows", "amd64", "-w " + stamps}
	plain    = target{"windows", "amd64", "-w"}
	misspelt = target{"windows", "amd64", "-w -X main.vresion=v1.2.3"}
	stripped = target{"windows", "amd64", "-s -w " + stamps}
	debug    = target{"windows", "amd64", stamps}
	gui      = target{"windows", "amd64", "-w -H=windowsgui"}
	i386     = target{"windows", "386", "-w " + stamps}
	arm64    = target{"windows", "arm64", "-w " + stamps}
	linux    = target{"linux", "amd64", "-w"}
)

var built struct {
	sync.Mutex
	dir   string
	bytes map[target][]byte
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pe-test-")
	if err != nil {
		panic(err)
	}
	built.dir, built.bytes = dir, map[target][]byte{}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// build returns the program built for t, from a cache that lasts as long as
// the test binary runs. The caller may change the bytes.
func build(tb testing.TB, t target) []byte {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	if built.bytes[t] == nil {
		built.bytes[t] = goBuild(tb, t)
	}
	return slices.Clone(built.bytes[t])
}

func goBuild(tb testing.TB, t target) []byte {
	tb.Helper()
	for name, text := range program {
		file := filepath.Join(built.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	out := filepath.Join(built.dir, "out.exe")
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", t.ldflags, "-o", out, ".")
	cmd.Dir = built.dir
	cmd.Env = append(os.Environ(), "GOOS="+t.goos, "GOARCH="+t.goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GODEBUG=")
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build %v: %v\n%s", t, err, text)
	}
	exe, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return exe
}

// read reads an executable that must be fine.
func read(tb testing.TB, exe []byte) *pe.File {
	tb.Helper()
	f, err := pe.Read(bytes.NewReader(exe), int64(len(exe)))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// stringVar is StringVars for one name.
func stringVar(f *pe.File, name string) (string, error) {
	v := f.StringVars(name)[name]
	return v.Value, v.Err
}
