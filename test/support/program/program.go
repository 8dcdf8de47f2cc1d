// Package program builds this project's commands for tests that run them as a
// person does.
package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/winbake/winbake/test/support/filelock"
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
	return Build(f.dir, f.Commands, f.Env...)
}

// Build puts commands into dir. All test packages build in one place, where the
// go command finds what another one has linked: a link takes three seconds of
// processor time, to see that it's up to date takes a tenth of that.
func Build(dir string, commands []string, env ...string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	shared := filepath.Join(cache, "winbake-test", "commands")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return err
	}
	unlock, err := filelock.Wait(context.Background(), shared+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	top, err := root()
	if err != nil {
		return err
	}
	if err := Depend(top); err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-o", shared + "/"}
	for _, c := range commands {
		args = append(args, "./cmd/"+c)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = top
	// There it is renamed when it's whole, not copied.
	cmd.Env = append(append(os.Environ(), "GOTMPDIR="+filepath.Dir(shared)), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	for _, c := range commands {
		// A link, which the next build doesn't write into, or a copy.
		const put = `cp -l "$1" "$2" 2>/dev/null || cp "$1" "$2"`
		if out, err := exec.Command("sh", "-c", put, "sh", filepath.Join(shared, c), dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", put, err, out)
		}
	}
	return nil
}

// root is the folder of this module, above that of the test.
func root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "bake")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the test isn't in this repository")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Depend has the go command run a package's tests again when a file of the project
// in root has changed. It keeps results by the files that the test's own process
// reads, and these programs are built by another process.
func Depend(root string) error {
	for _, name := range []string{"Makefile", "ci", "cmd", "examples", "go.mod", "go.sum", "hack", "internal", "packer", "payload", "test", "versions.yaml"} {
		if err := filepath.WalkDir(filepath.Join(root, name), func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return err
		}
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
