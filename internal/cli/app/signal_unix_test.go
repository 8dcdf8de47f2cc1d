//go:build unix

package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// A terminal that is closed ends a run in good order, as Ctrl-C does, unless nohup
// has it go on.
func TestHangup(t *testing.T) {
	if !signal.Ignored(syscall.SIGHUP) { // by who runs this test
		ctx, stop := signals(t.Context())
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) {
			t.Errorf("ended by %v", cause)
		}
		stop()
	}
	signal.Ignore(syscall.SIGHUP)
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	_, stop := signals(t.Context())
	defer stop()
	if !signal.Ignored(syscall.SIGHUP) {
		t.Error("nohup has no effect")
	}
}
