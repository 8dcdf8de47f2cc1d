package compile

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

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

// acquire waits until a build that needs memory bytes may start, or ctx ends. A build
// that needs more than there is runs alone.
func (l *limiter) acquire(ctx context.Context, memory int64) (release func(), err error) {
	memory = min(memory, l.capacity)
	if err := l.jobs.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := l.memory.Acquire(ctx, memory); err != nil {
		l.jobs.Release(1)
		return nil, err
	}
	return func() { l.jobs.Release(1); l.memory.Release(memory) }, nil
}

// defaultMemory is what a build is taken to need before one was measured:
// enough for the linker of a large program (kubelet's peaks at 1.5 GiB).
const defaultMemory = 2 << 30

// availableMemory returns how many bytes builds may use: what the kernel says
// can be had without swapping, or what the control group allows if that is
// less. It is defaultMemory where neither is told.
func availableMemory() int64 {
	available := number("/proc/meminfo", "MemAvailable:") << 10 // it counts in KiB (proc(5))
	if limit := number("/sys/fs/cgroup/memory.max", ""); limit > 0 {
		available = min(available, limit)
	}
	if available <= 0 {
		return defaultMemory
	}
	return available
}

// number returns the number behind key in a file; 0 for none, or for a word.
func number(path, key string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		rest, found := strings.CutPrefix(line, key)
		if fields := strings.Fields(rest); found && len(fields) > 0 {
			if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}
