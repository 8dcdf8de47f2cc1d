package compile

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/semaphore"
)

type limiter struct {
	jobs, memory *semaphore.Weighted
	count        int
	capacity     int64
}

func newLimiter(jobs int, memory int64) *limiter {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	if memory <= 0 {
		memory = availableMemory() / 10 * 9
	}
	return &limiter{semaphore.NewWeighted(int64(jobs)), semaphore.NewWeighted(memory), jobs, memory}
}

// spacious tells whether the builds that may run side by side, the heaviest
// first, leave memory to spare when each takes half as much again as it needs.
func (l *limiter) spacious(needs []int64) bool {
	var sum int64
	for _, n := range needs[:min(l.count, len(needs))] {
		sum += n
	}
	return sum+sum/2 <= l.capacity
}

var errStopped = errors.New("stopped after a failure")

// acquire waits until a build that needs memory bytes may start. A build that
// needs more than there is runs alone.
func (l *limiter) acquire(ctx context.Context, stop <-chan struct{}, memory int64) (release func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-done:
		}
	}()
	memory = min(memory, l.capacity)
	if err := l.jobs.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := l.memory.Acquire(ctx, memory); err != nil {
		l.jobs.Release(1)
		return nil, context.Cause(ctx)
	}
	select {
	case <-stop: // both were free, but a failure came first
		l.jobs.Release(1)
		l.memory.Release(memory)
		return nil, errStopped
	default:
	}
	return func() { l.jobs.Release(1); l.memory.Release(memory) }, nil
}
