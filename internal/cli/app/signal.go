package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// signals ends ctx on the first SIGINT, SIGTERM or SIGHUP. The second one ends the
// process, for a user who can't wait.
func signals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 1)
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	signal.Notify(c, ends...)
	go func() {
		if _, ok := <-c; ok {
			cancel(errInterrupted)
			signal.Reset(ends...)
		}
	}()
	return ctx, func() { signal.Stop(c); close(c); cancel(nil) }
}
