package real

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// compiling starts `bake payload` with an empty build cache and returns when
// the compiler runs.
func compiling(t *testing.T, work string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), "payload", "-f", older, "--only", "csi-proxy",
		"--layout", work+"/image", "--cache-dir", work+"/cache", "--progress", "plain")
	cmd.Dir = repository(t)
	cmd.Env = append(os.Environ(), "GOCACHE="+work+"/gocache", "TMPDIR="+work)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), "compile  start") {
			return cmd
		}
	}
	t.Fatal("bake ended before it compiled anything")
	return nil
}

// left lists what an ended run has left behind in a folder.
func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// compilers lists the processes that work below dir.
func compilers(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), "GOCACHE="+dir+"/gocache") {
			found = append(found, f)
		}
	}
	return found
}

// Ctrl-C ends the compilers too, says so, and leaves nothing half-written.
func TestInterruptedBuild(t *testing.T) {
	work := t.TempDir()
	cmd := compiling(t, work)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is what counts
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if p := compilers(t, work); len(p) != 0 {
		t.Errorf("still running: %v", p)
	}
	if names := left(t, work+"/image"); len(names) != 0 {
		t.Errorf("half an image: %v", names)
	}
	if names := left(t, work+"/cache/tmp"); len(names) != 0 {
		t.Errorf("left in the cache: %v", names)
	}
}

// After kill -9 the next run just works, and gives what it always gives.
func TestKilledBuild(t *testing.T) {
	work := t.TempDir()
	cmd := compiling(t, work)
	t.Cleanup(func() { // a killed bake can't end its compilers
		for _, environ := range compilers(t, work) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(environ))); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by now
			}
		}
	})
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as it should be
	if names := left(t, work+"/image"); len(names) != 0 {
		t.Errorf("half an image: %v", names)
	}
	m := machine{dir: repository(t)}
	args := []string{"payload", "-f", older, "--only", "csi-proxy", "--layout"}
	killed := m.run(t, "bake", append(args, work+"/image", "--cache-dir", work+"/cache")...)
	clean := m.run(t, "bake", append(args, work+"/other")...)
	if digest(killed) != digest(clean) {
		t.Errorf("%s after kill -9, %s otherwise", digest(killed), digest(clean))
	}
	m.run(t, "verify", "payload", work+"/image", "-f", older, "--only", "csi-proxy")
}
