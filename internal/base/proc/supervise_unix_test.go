//go:build unix

package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentEnv makes the test's program one that runs a supervised command until
// it is killed.
const parentEnv = "WINBAKE_TEST_PROC_PARENT"

// stubborn has a child that ignores SIGTERM, as it does itself, and prints its
// group once both run.
const stubborn = `trap '' TERM; sh -c 'trap "" TERM; echo $PPID; exec sleep 1000' & wait`

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) != "" {
		cmd := Supervised(context.Background(), "sh", "-c", stubborn)
		cmd.Stdout = os.Stdout
		fmt.Fprintln(os.Stderr, cmd.Run())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// groupOf reads the number of the shell that stubborn is, and returns its
// group.
func groupOf(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	if own, err := syscall.Getpgid(0); err != nil || own == group {
		t.Fatalf("the command is in this program's own group: %v", err)
	}
	return group
}

// alive lists the processes of a group that aren't zombies.
func alive(t *testing.T, group int) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-A", "-o", "pgid=,stat=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) > 2 && f[0] == strconv.Itoa(group) && !strings.HasPrefix(f[1], "Z") {
			found = append(found, line)
		}
	}
	return found
}

// waitForEnd returns when no process of the group lives.
func waitForEnd(t *testing.T, group int) {
	t.Helper()
	for len(alive(t, group)) > 0 {
		time.Sleep(10 * time.Millisecond) // ps is asked again, until the test's own time is over
	}
}

// A killed program's commands end, also those that don't want to.
func TestSupervisedEndsWithAKilledProgram(t *testing.T) {
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	group := groupOf(t, bufio.NewReader(out))
	if len(alive(t, group)) < 3 {
		t.Errorf("supervisor, shell and child aren't all there: %q", alive(t, group))
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed, as it should be
	waitForEnd(t, group)
}

func TestSupervisedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := Supervised(ctx, "sh", "-c", stubborn)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := groupOf(t, bufio.NewReader(out))
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("a command that was cut short has ended well")
	}
	waitForEnd(t, group)
}

// Anyone who is supervised sees what he would see without: arguments, folder,
// environment, no stdin; and so does the one who waits.
func TestSupervisedIsTransparent(t *testing.T) {
	cmd := Supervised(t.Context(), "sh", "-c", `pwd; echo "$A $1"; cat; echo oops >&2; exit 7`, "sh", "a b")
	cmd.Dir = "/"
	cmd.Env = []string{"A=1", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if string(out) != "/\n1 a b\n" || !ok || exit.ExitCode() != 7 || string(exit.Stderr) != "oops\n" {
		t.Errorf("%q, %v", out, err)
	}
	if err := Supervised(t.Context(), "true").Run(); err != nil {
		t.Error(err)
	}
	err = Supervised(t.Context(), "sh", "-c", "kill -9 $$").Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 128+9 {
		t.Errorf("a killed command: %v", err)
	}
	if err := Supervised(t.Context(), "winbake-no-such-program").Run(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that isn't there: %v", err)
	}
}

// The peak is that of the command's children, not of the supervisor.
func TestSupervisedPeakMemory(t *testing.T) {
	cmd := Supervised(t.Context(), "sh", "-c", `x=$(head -c 100000000 /dev/zero | tr '\0' a); true`)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if peak := PeakMemory(cmd); peak < 95<<20 {
		t.Errorf("%d bytes, and 100 MB were held", peak)
	}
}
