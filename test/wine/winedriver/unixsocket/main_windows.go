// Command unixsocket runs a program whose Unix sockets are TCP ones: Wine 8 has no
// AF_UNIX, and some drivers listen on nothing else. It changes the entries of
// ws2_32.dll's export table in the program's memory, before the program runs; the
// program itself stays as it is.
//
//	unixsocket LISTEN CONNECT PROGRAM ARGUMENT...
//
// LISTEN is the port of 127.0.0.1 that means the path that the program binds,
// CONNECT for the one that it connects to.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "unixsocket:", err)
		code = 1
	}
	os.Exit(int(code))
}

func run(args []string) (code uint32, err error) {
	if len(args) < 3 {
		return 0, errors.New("give two ports and a program")
	}
	listen, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		return 0, err
	}
	connect, err := strconv.ParseUint(args[1], 10, 16)
	if err != nil {
		return 0, err
	}
	p, err := start(args[2:])
	if err != nil {
		return 0, err
	}
	if err := p.change(uint16(listen), uint16(connect)); err != nil {
		return 0, errors.Join(err, windows.TerminateProcess(p.handle, 1))
	}
	if _, err := windows.ResumeThread(p.thread); err != nil {
		return 0, err
	}
	if _, err := windows.WaitForSingleObject(p.handle, windows.INFINITE); err != nil {
		return 0, err
	}
	return code, windows.GetExitCodeProcess(p.handle, &code)
}

// program is a process that hasn't begun to run.
type program struct{ handle, thread windows.Handle }

// start makes the process, which ends with this one.
func start(args []string) (*program, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE}}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return nil, err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(args))
	if err != nil {
		return nil, err
	}
	info := windows.StartupInfo{Flags: windows.STARTF_USESTDHANDLES}
	info.Cb = uint32(unsafe.Sizeof(info))
	for _, h := range []struct {
		to *windows.Handle
		id uint32
	}{{&info.StdInput, windows.STD_INPUT_HANDLE}, {&info.StdOutput, windows.STD_OUTPUT_HANDLE}, {&info.StdErr, windows.STD_ERROR_HANDLE}} {
		if *h.to, err = windows.GetStdHandle(h.id); err != nil {
			return nil, err
		}
		_ = windows.SetHandleInformation(*h.to, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT) // it may be none
	}
	var made windows.ProcessInformation
	if err := windows.CreateProcess(nil, line, nil, nil, true, windows.CREATE_SUSPENDED, nil, nil, &info, &made); err != nil {
		return nil, err
	}
	return &program{made.Process, made.Thread}, windows.AssignProcessToJobObject(job, made.Process)
}
