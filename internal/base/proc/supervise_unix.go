//go:build unix

package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// supervisor is the name, argv[0], under which this program runs a command in
// place of its own work. It is found before main, so that a test's program can
// be one too.
const supervisor = "winbake-supervisor"

func init() {
	if os.Args[0] == supervisor && len(os.Args) > 1 {
		os.Exit(supervise(os.Args[1], os.Args[2:]))
	}
}

// Supervised is Command for what must not outlive this process, however that
// ends: kill -9 has no handler, and a parent-death signal (prctl(2)) is sent
// when a thread ends and doesn't reach grandchildren. A second process of this
// program leads the group. Its stdin is a pipe from here: when that closes, it
// ends the group that it is in itself, so that no recorded id can be somebody
// else's by then. The command has no stdin.
func Supervised(ctx context.Context, name string, args ...string) *exec.Cmd {
	target := exec.Command(name, args...)
	if target.Err != nil {
		return target
	}
	self := "/proc/self/exe" // this program, also when its file was replaced or removed since
	if runtime.GOOS != "linux" {
		self, _ = os.Executable() // "" starts nothing
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{supervisor, target.Path}, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe() // closed when the command was waited for
	if err != nil {
		cmd.Err = err
		return cmd
	}
	cmd.Cancel = pipe.Close
	// Much longer than grace: a supervisor that is killed ends nobody.
	cmd.WaitDelay = 20 * grace
	return cmd
}

// supervise runs a command and returns its exit code. It returns only when the
// command ended by itself, before stdin.
func supervise(path string, args []string) int {
	signals := make(chan os.Signal, 1)
	// The group gets SIGTERM from here, this process too, and outlives it.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // nobody writes to it: this is its end
		endGroup(ended)
	}()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	close(ended)
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0
	case !failed:
		_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
		return 127 // as a shell says it
	case exit.ExitCode() < 0:
		if status, ok := exit.Sys().(syscall.WaitStatus); ok {
			return 128 + int(status.Signal())
		}
	}
	return exit.ExitCode()
}

// endGroup ends all processes of this one's group, and this one.
func endGroup(ended <-chan struct{}) {
	// The go command removes its work folder on SIGTERM.
	_ = syscall.Kill(0, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(grace):
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
}
