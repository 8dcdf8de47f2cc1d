// Command lab runs a command where vCenter is simulated, and where packer is
// the one that the tests run, with vSphere's plugin. It is for trying a
// template from beginning to end without a vCenter or a Windows licence:
//
//	lab packer build _output/golden
//
// A script that PowerShell can't parse and an answer file that Windows Setup stops at
// fail the build.
//
// What vCenter has to be told is in the environment, as PKR_VAR_NAME. Plugins
// that are installed stay in _output/lab below the project's folder; vCenter and
// its machines are gone when the command ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: lab COMMAND [ARGUMENT...]\n\nFor example: lab packer build _output/golden")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flag.Args())
	stop()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode()) // the command has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) (err error) {
	l, err := open(ctx)
	defer func() { err = errors.Join(err, l.close()) }()
	if err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the command: %w", err)
	}
	// Ctrl-C in a terminal reaches the command without this program, and a second
	// one would have Packer leave everything as it is.
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	go func() {
		for range told {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}()
	if err := cmd.Wait(); err != nil {
		return err
	}
	return l.report(os.Stdout)
}
