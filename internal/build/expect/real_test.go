package expect

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/pe"
)

// goBuild writes a main module and builds a package of it for Windows.
func goBuild(t *testing.T, files map[string]string, args ...string) *pe.File {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-o", "out.exe"}, args)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off",
		"GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
	}
	exe, err := os.ReadFile(filepath.Join(dir, "out.exe"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := pe.Read(bytes.NewReader(exe), int64(len(exe)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// localGo is the toolchain that goBuild uses, as versions.yaml spells it.
func localGo() string { return strings.TrimPrefix(runtime.Version(), "go") }

// TestRealModule builds a program of a published module in a synthetic main
// module, as bake does, and compares it with a lock written by hand.
func TestRealModule(t *testing.T) {
	sums, err := os.ReadFile(filepath.Join("..", "..", "..", "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	tools := pins.LockedModule{Path: "golang.org/x/tools", Version: "v0.49.0", Sum: "h1:3NI7VXzL9+1WZD52Dx2ttoPwD5DWrFGpl9mFZDlmisI="}
	mod := pins.LockedModule{Path: "golang.org/x/mod", Version: "v0.41.0", Sum: "h1:qJmnOUb4YB+FsEuM3HcWucdZASCPGhsX6uljO6pog0c="}
	exe := goBuild(t, map[string]string{
		"go.mod": "module winbake.test/gonew\n\ngo 1.26.0\n\ngodebug winsymlink=0\n\nrequire (\n\tgolang.org/x/mod v0.41.0\n\tgolang.org/x/tools v0.49.0\n)\n",
		"go.sum": string(sums),
	}, "-mod=readonly", "-ldflags=-w", "golang.org/x/tools/cmd/gonew")
	f := &pins.File{Go: localGo(), Path: "versions.yaml"}
	c := &pins.Component{Name: "gonew", Module: tools.Path, Version: tools.Version, Package: "./cmd/gonew"}
	l := &pins.Locked{Module: tools.Path, Version: tools.Version, Sum: tools.Sum, DefaultGODEBUG: "winsymlink=0", Modules: []pins.LockedModule{mod, tools}}

	expectIDs(t, For(c, f, l, nil).Check("gonew.exe", exe), "PASS binary.pin")
	expectIDs(t, Executable("gonew.exe", exe), "PASS binary.pe")

	l.Modules[0].Sum = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	l.DefaultGODEBUG = ""
	c.Tags = []string{"netgo"}
	f.Go = "1.2.3"
	expectIDs(t, For(c, f, l, nil).Check("gonew.exe", exe),
		"BLOCK binary.go.version", "BLOCK binary.go.deps", "BLOCK binary.go.setting", "BLOCK binary.go.godebug")
}

var checkout = map[string]string{
	"go.mod": "module example.test/proxy\n\ngo 1.23\n\ngodebug winsymlink=0\n\nrequire example.test/client v0.0.0\n\nreplace example.test/client => ./client\n",
	"cmd/proxy/main.go": `package main

import "example.test/client"

var version, commit string

func main() { println(version, commit, client.Name()) }
`,
	"client/go.mod":    "module example.test/client\n\ngo 1.23\n",
	"client/client.go": "package client\n\nvar name string\n\n//go:noinline\nfunc Name() string { return name }\n",
}

// TestRealCheckout builds a program in its checkout, stamped and not.
func TestRealCheckout(t *testing.T) {
	stamps := map[string]string{"main.version": "v1.3.0", "main.commit": "abc", "example.test/client.name": "it's a client"}
	for _, tt := range []struct {
		name, ldflags string
		ids           []string
		texts         []string
	}{
		{"stamped", `-w -X main.version=v1.3.0 -X main.commit=abc -X "example.test/client.name=it's a client"`, []string{"PASS binary.pin"}, nil},
		{"lost a stamp", `-w -X main.commit=abc -X "example.test/client.name=it's a client"`, []string{"BLOCK binary.stamp"}, []string{`main.version = ""`}},
		{"misspelt", `-w -X main.Version=v1.3.0 -X main.commit=abc -X "example.test/client.name=it's a client"`, []string{"BLOCK binary.stamp"}, []string{"misspelt"}},
		{"stripped", `-s -w -X main.version=v1.3.0 -X main.commit=abc`, []string{"UNKNOWN binary.stamp"}, []string{"no symbol table"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exe := goBuild(t, checkout, "-ldflags="+tt.ldflags, "./cmd/proxy")
			f := &pins.File{Go: localGo(), Path: "versions.yaml"}
			c := &pins.Component{Name: "proxy", Git: "https://example.test/proxy.git", Commit: "abc", Package: "./cmd/proxy"}
			l := &pins.Locked{Main: "example.test/proxy/cmd/proxy", MainModule: "example.test/proxy", DefaultGODEBUG: exe.Setting("DefaultGODEBUG"), Modules: []pins.LockedModule{
				{Path: "example.test/client", Version: "v0.0.0", Replace: &pins.ModuleVersion{Path: "./client"}},
			}}
			if !strings.Contains(l.DefaultGODEBUG, "winsymlink=0") {
				t.Fatalf("DefaultGODEBUG = %q", l.DefaultGODEBUG)
			}
			fs := For(c, f, l, stamps).Check("proxy.exe", exe)
			expectIDs(t, fs, tt.ids...)
			expectText(t, fs[0], tt.texts...)

			l.MainModule = "example.test/fork"
			expectText(t, For(c, f, l, stamps).origin(exe.Build)[0], "example.test/proxy (devel)", "example.test/fork (devel)")
		})
	}
}
