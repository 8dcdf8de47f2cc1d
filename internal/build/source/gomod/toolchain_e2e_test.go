//go:build e2e

package gomod

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/gotool"
)

// compileTiny compiles a program with a tool.
func compileTiny(t *testing.T, tool *gotool.Tool) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.24\n", "main.go": "package main\n\nimport \"errors\"\n\nfunc main() { panic(errors.ErrUnsupported) }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := tool.Command(t.Context(), dir, gotool.Target(""), "build", "-trimpath", "-o", "x.exe", ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	exe, err := os.ReadFile(filepath.Join(dir, "x.exe"))
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// A Go that calls itself the pinned one, and whose standard library is another, decides
// bytes by its name, and none where the lock has the toolchain's sums.
func TestRenamedToolchain(t *testing.T) {
	name := runtime.Version()
	own, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "go")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", strings.TrimSpace(string(own)), root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	changed := filepath.Join(root, "src", "errors", "errors.go")
	text, err := os.ReadFile(changed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(changed, bytes.ReplaceAll(text, []byte("unsupported operation"), []byte("unsupported 0peration")), 0o600); err != nil {
		t.Fatal(err)
	}
	honest, err := gotool.NewHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums, err := ToolchainSums(t.Context(), honest.Tool(name))
	if err != nil || len(sums) == 0 {
		t.Fatalf("no sums of %s: %v", name, err)
	}
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("PATH", filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	renamed, err := gotool.NewHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := compileTiny(t, renamed.Tool(name))
	if !bytes.Contains(byName, []byte("unsupported 0peration")) {
		t.Fatal("the test proves nothing: another Go compiled it")
	}
	tool := renamed.Tool(name)
	if err := ProveToolchain(t.Context(), tool, sums); err != nil {
		t.Fatal(err)
	}
	if exe := compileTiny(t, tool); !bytes.Contains(exe, []byte("unsupported operation")) || bytes.Contains(exe, []byte("0peration")) {
		t.Error("the renamed Go decided bytes")
	}

	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	if renamed, err = gotool.NewHost(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = ProveToolchain(t.Context(), renamed.Tool(name), sums)
	if err == nil || !strings.Contains(err.Error(), "isn't "+name+" as it was published") {
		t.Errorf("said %v", err)
	}
}
