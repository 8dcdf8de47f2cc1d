// Package program builds this project's commands for tests that run them as a
// person does.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Folder holds commands, built once for all tests of a package when the first
// one asks.
type Folder struct {
	// Commands are the packages to build, below cmd.
	Commands []string
	// Env is added to the environment of the build.
	Env []string

	once sync.Once
	dir  string
	err  error
}

// Path is the folder. It ends the test where the commands don't compile.
func (f *Folder) Path(t *testing.T) string {
	t.Helper()
	f.once.Do(func() { f.err = f.build() })
	if f.err != nil {
		t.Fatal(f.err)
	}
	return f.dir
}

func (f *Folder) build() (err error) {
	if f.dir, err = os.MkdirTemp("", "winbake-program-"); err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-o", f.dir + "/"}
	for _, c := range f.Commands {
		args = append(args, "../../cmd/"+c)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), f.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Command is a run that hasn't begun. The machine's own kubeconfig stays out of
// it, and its day is 2026-11-20.
func (f *Folder) Command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(f.Path(t), name), args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG=", "KUBERNETES_SERVICE_HOST=", "SOURCE_DATE_EPOCH=1795132800")
	return cmd
}

// Main runs a package's tests and removes the folder after them: it is what
// TestMain returns with.
func (f *Folder) Main(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(f.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}
