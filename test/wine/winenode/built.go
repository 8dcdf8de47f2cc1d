package winenode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// The two lines of csi-proxy that serve named pipes, each from the pins of the
// repository that have it.
const (
	CSIProxy11 = "examples/openshift-4.15/versions.yaml" // v1.1.3, which starts PowerShell
	CSIProxy13 = "versions.yaml"                         // v1.3.0, which asks WMI
)

// Built is the path on the host of a pinned component's program, as `bake
// build` makes it, from its cache if it's there. file is a versions.yaml below
// the repository's root.
func Built(t testing.TB, file, component string) string {
	t.Helper()
	path, err := built(t.Context(), file, component)
	if err != nil {
		t.Fatalf("build %s of %s: %v", component, file, err)
	}
	return path
}

func built(ctx context.Context, file, component string) (string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/bake", "build", component, "-f", file, "-o", "json")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath")
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, trouble.Bytes())
	}
	var built struct{ Items []struct{ Path string } }
	if err := json.Unmarshal(out, &built); err != nil {
		return "", fmt.Errorf("bake build printed %q: %w", out, err)
	}
	if len(built.Items) != 1 {
		return "", fmt.Errorf("bake build printed %d programs", len(built.Items))
	}
	return built.Items[0].Path, nil
}

// Program is the path on the host of a program of this repository, built for
// the node: pkg is its package, such as ./cmd/verify/node. It's linked once for
// a test process.
func Program(t testing.TB, pkg string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if programs.data[pkg] == nil {
		data, err := buildProgram(t.Context(), pkg)
		if err != nil {
			t.Fatal(err)
		}
		programs.data[pkg] = data
	}
	file := filepath.Join(t.TempDir(), filepath.Base(pkg)+".exe")
	if err := os.WriteFile(file, programs.data[pkg], 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// programs are what this process has built, by package.
var programs = struct {
	sync.Mutex
	data map[string][]byte
}{data: map[string][]byte{}}

func buildProgram(ctx context.Context, pkg string) (data []byte, err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "winenode-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "program.exe")
	if err := crossCompile(ctx, root, pkg, file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// Put copies a file of the host to a place on the node, past SSH and what it
// refuses. Folders are made.
func (n *Node) Put(t testing.TB, file, windows string) {
	t.Helper()
	if err := n.Replace(file, windows); err != nil {
		t.Fatalf("put %s: %v", windows, err)
	}
}
