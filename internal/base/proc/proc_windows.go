package proc

import (
	"context"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Command is exec.CommandContext for a program that ends with this one, however
// that ends, with all that it has started. A cancelled context ends the program
// alone.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	if err := joinJob(); err != nil {
		cmd.Err = err
	}
	cmd.WaitDelay = 2 * grace // what it has started holds its output
	return cmd
}

// Supervised is Command.
func Supervised(ctx context.Context, name string, args ...string) *exec.Cmd {
	return Command(ctx, name, args...)
}

// PeakMemory returns 0: Windows keeps it only for a process that is open.
func PeakMemory(*exec.Cmd) int64 { return 0 }

// joinJob puts this process into a job, which all that it starts is in. The
// handle isn't closed: Windows does it when the process has ended, and then
// ends the rest of the job.
// https://learn.microsoft.com/windows/win32/procthread/job-objects
var joinJob = sync.OnceValue(func() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	limit := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit))); err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
})
