//go:build unix

package proc

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is exec.CommandContext with an own process group, which is sent
// SIGTERM when ctx ends and SIGKILL half a second later.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		// The go command removes its work folder on SIGTERM; a plain kill
		// would leave a gigabyte of it in TMPDIR.
		err := syscall.Kill(group, syscall.SIGTERM)
		time.AfterFunc(grace, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		return err
	}
	cmd.WaitDelay = 2 * grace
	return cmd
}

// PeakMemory returns the largest resident set in bytes that cmd or one of its
// children had, after it has ended; 0 where the system doesn't tell.
func PeakMemory(cmd *exec.Cmd) int64 {
	if cmd.ProcessState == nil {
		return 0
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "linux" { // it counts in KiB, macOS in bytes (getrusage(2))
		return usage.Maxrss << 10
	}
	return usage.Maxrss
}
