//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterrupted: Ctrl-C in an upload that goes on no more ends the build, and leaves
// neither a machine nor its CD, nor a record. It comes as a terminal sends it:
// to Packer and its plugins.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	b, v := templated(t, "vsphere-iso")
	defer b.node.Pause(b.node.Home() + `\.winbake`)()
	cmd := b.p.Command(t.Context(), b.dir, b.line("build")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	uploads := filepath.Join(b.place(b.node.Home()), ".winbake", "*")
	for begun := false; !begun; {
		select {
		case err := <-ended:
			t.Fatalf("packer build ended before anything was uploaded: %v\n%s", err, out.String())
		case <-time.After(20 * time.Millisecond):
			names, err := filepath.Glob(uploads)
			if err != nil {
				t.Fatal(err)
			}
			begun = len(names) > 0
		}
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(out.String(), "Cleanly cancelled builds after being interrupted.") {
		t.Errorf("packer build: %v\n%s", err, out.String())
	}
	v.onlyOriginal()
	b.noRecord("golden-1")
	if left, err := os.ReadDir(filepath.Join(b.p.Dir, "cache")); err == nil && len(left) > 0 {
		t.Errorf("Packer's cache has %v", left)
	}
}
