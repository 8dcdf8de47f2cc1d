// Command guest is the part of the test node that runs inside Wine: it keeps
// the node up, and starts a command line as the SSH server of Windows does.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func main() {
	verbs := map[string]func(args []string) error{"hold": hold, "stay": stay, "run": run, "limited": limited, "version": version}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "guest: hold, stay, run FILE [COMMAND], limited FILE [COMMAND], or version")
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

// hold says that it's there and stays until its input ends. Wine ends all
// services with the last process that isn't one.
func hold([]string) error {
	fmt.Println("up")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// stay stays until it's killed.
func stay([]string) error { //nolint:unparam // one of several verbs
	time.Sleep(24 * time.Hour) // an empty select would be a deadlock to Go
	return nil
}

// run starts a command line under cmd.exe, as the SSH server of Windows does
// (https://github.com/PowerShell/openssh-portable, build_exec_command); exec's
// own quoting would change it. Without a command it's a shell. The exit code
// goes to a file: Linux lets through eight of its 32 bits.
func run(args []string) error { return runAs(0, args) }

// limited is run for a user who is no administrator: Wine heeds that group in
// a program's token, where the program asks for it, and in nothing else.
func limited(args []string) error {
	token, err := limitedToken()
	if err != nil {
		return err
	}
	return runAs(syscall.Token(token), args)
}

func limitedToken() (windows.Token, error) {
	sid, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return 0, err
	}
	var own, token windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ALL_ACCESS, &own); err != nil {
		return 0, err
	}
	without := windows.SIDAndAttributes{Sid: sid}
	create := windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")
	if ok, _, err := create.Call(uintptr(own), 0, 1, uintptr(unsafe.Pointer(&without)), 0, 0, 0, 0, uintptr(unsafe.Pointer(&token))); ok == 0 {
		return 0, fmt.Errorf("take the administrators out of the token: %w", err)
	}
	return token, nil
}

func runAs(token syscall.Token, args []string) error {
	signal.Ignore(os.Interrupt)
	err := runShell(token, args)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		return err
	}
	return os.WriteFile(args[0], []byte(strconv.Itoa(code)), 0o644)
}

func runShell(token syscall.Token, args []string) error {
	const shell = `C:\windows\system32\cmd.exe`
	cmd := exec.Command(shell)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: shell, Token: token}
	if len(args) > 1 {
		cmd.SysProcAttr.CmdLine += ` /c "` + args[1] + `"`
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// version prints what Windows programs take this system for.
func version([]string) error { //nolint:unparam // one of several verbs
	v := windows.RtlGetVersion()
	fmt.Printf("%d.%d.%d type %d elevated %t\n", v.MajorVersion, v.MinorVersion, v.BuildNumber, v.ProductType, windows.GetCurrentProcessToken().IsElevated())
	return nil
}
