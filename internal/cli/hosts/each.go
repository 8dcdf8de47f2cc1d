package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/guest"
)

// ErrSkipped is the error of a machine that wasn't begun with: too many others
// had failed.
var ErrSkipped = errors.New("not begun: too many others failed")

// Outcome is what the work on one machine came to.
type Outcome[T any] struct {
	Target guest.Target
	Value  T
	Err    error
}

// Each does the work on all machines, some at a time, and returns the outcomes
// in the order of targets, those of h.Targets. Once ctx ends, no more are begun. tell
// hears of each end of several, in any order; it may be nil.
func Each[T any](ctx context.Context, h *Flags, targets []guest.Target, work func(context.Context, guest.Target) (T, error), tell func(Outcome[T])) []Outcome[T] {
	all := make([]Outcome[T], len(targets))
	var group errgroup.Group
	group.SetLimit(h.parallel)
	var mu sync.Mutex
	failed := 0
	for i, target := range targets {
		group.Go(func() error {
			o := Outcome[T]{Target: target, Err: cmp.Or(ctx.Err(), ErrSkipped)}
			mu.Lock()
			begin := failed <= h.allowed && ctx.Err() == nil
			mu.Unlock()
			if begin {
				o.Value, o.Err = limited(ctx, h.limit, target, work)
			}
			mu.Lock()
			defer mu.Unlock()
			if begin && o.Err != nil {
				failed++
			}
			if all[i] = o; begin && tell != nil && len(all) > 1 {
				tell(o)
			}
			return nil
		})
	}
	_ = group.Wait() // nobody returns an error
	return all
}

// limited ends work that takes too long: a machine may answer while a command on it
// never ends.
func limited[T any](ctx context.Context, limit time.Duration, target guest.Target, work func(context.Context, guest.Target) (T, error)) (T, error) {
	ctx, end := context.WithTimeoutCause(ctx, limit, &fault.Error{Where: target.String(), What: fmt.Sprintf("after %s the work on the machine isn't done, and was ended", limit),
		Fix: "see what keeps it there, then run the same command again: it goes on from there; --node-timeout gives it more time"})
	defer end()
	value, err := work(ctx, target)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = context.Cause(ctx)
	}
	return value, err
}

// Failure is one error for all that failed: its exit code is the highest, its
// cause the first. It is nil if none did.
func Failure[T any](all []Outcome[T]) error {
	failed, skipped, code := 0, 0, 0
	var first error
	for _, o := range all {
		switch {
		case errors.Is(o.Err, ErrSkipped), errors.Is(o.Err, context.Canceled):
			skipped++
		case o.Err != nil:
			failed++
			code = max(code, fault.ExitCode(o.Err))
			if first == nil {
				first = o.Err
			}
		}
	}
	if failed+skipped == 0 {
		return nil
	}
	what := fmt.Sprintf("%d of %d nodes failed", failed, len(all))
	if skipped > 0 {
		what += fmt.Sprintf(", and %d weren't begun", skipped)
	}
	return &fault.Error{What: what, Fix: "see above for each, then run the same command again: it changes nothing on nodes that are right", Code: code, Err: first}
}

// Reason is what went wrong, in one line.
func Reason(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.What
	}
	return fault.FirstLine(err)
}
