package real

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// compiling starts `bake payload` with an empty build cache and returns when
// the compiler runs.
func compiling(t *testing.T, work string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), "payload", "-f", older, "--only", "csi-proxy",
		"--layout", work+"/image", "--cache-dir", work+"/cache", "--progress", "plain")
	cmd.Dir = repository(t)
	if err := os.Mkdir(work+"/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "GOCACHE="+work+"/gocache", "TMPDIR="+work+"/tmp")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), "compile  start") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()             // bake may say more
			waitFor(t, func() bool { return len(compilers(t, work)) > 2 }) // supervisor, go, a compiler
			return cmd
		}
	}
	t.Fatal("bake ended before it compiled anything")
	return nil
}

// waitFor asks again and again, until the test's own time is over.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		time.Sleep(20 * time.Millisecond)
	}
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

// compilers lists the processes that bake started, which work below dir. bake
// itself doesn't count: its settings name the folder too.
func compilers(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(data), "GOCACHE="+dir+"/gocache") && strings.Contains(string(data), "GOTMPDIR=") {
			found = append(found, f)
		}
	}
	return found
}

// Ctrl-C and SIGTERM end the compilers too, say so, and leave nothing
// half-written.
func TestInterruptedBuild(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { interrupt(t, signal) })
	}
}

func interrupt(t *testing.T, signal os.Signal) {
	work := t.TempDir()
	cmd := compiling(t, work)
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is what counts
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	waitFor(t, func() bool { return len(compilers(t, work)) == 0 })
	if names := left(t, work+"/tmp"); len(names) != 0 {
		t.Errorf("left in TMPDIR: %v", names)
	}
	if names := left(t, work+"/image"); len(names) != 0 {
		t.Errorf("half an image: %v", names)
	}
	if names := left(t, work+"/cache/tmp"); len(names) != 0 {
		t.Errorf("left in the cache: %v", names)
	}
}

// kill -9 ends the compilers too. The next run just works, removes what was left
// and gives what it always gives.
func TestKilledBuild(t *testing.T) {
	work := t.TempDir()
	cmd := compiling(t, work)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as it should be
	waitFor(t, func() bool { return len(compilers(t, work)) == 0 })
	if names := left(t, work+"/tmp"); len(names) != 0 {
		t.Errorf("left in TMPDIR: %v", names)
	}
	if names := left(t, work+"/cache/tmp"); len(names) == 0 {
		t.Error("bake was killed, and left nothing to remove: this test tests nothing")
	}
	if names := left(t, work+"/image"); len(names) != 0 {
		t.Errorf("half an image: %v", names)
	}
	m := machine{dir: repository(t)}
	args := []string{"payload", "-f", older, "--only", "csi-proxy", "--layout"}
	killed := m.run(t, "bake", append(args, work+"/image", "--cache-dir", work+"/cache")...)
	clean := m.run(t, "bake", append(args, work+"/other")...)
	if names := left(t, work+"/cache/tmp"); len(names) != 0 {
		t.Errorf("left in the cache: %v", names)
	}
	if digest(killed) != digest(clean) {
		t.Errorf("%s after kill -9, %s otherwise", digest(killed), digest(clean))
	}
	m.run(t, "verify", "payload", work+"/image", "-f", older, "--only", "csi-proxy")
}
