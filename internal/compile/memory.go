package compile

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// defaultMemory is what a build is taken to need before one was measured:
// enough for the linker of a large program (kubelet's peaks at 1.5 GiB).
const defaultMemory = 2 << 30

// availableMemory returns how many bytes builds may use: what the kernel says
// can be had without swapping, or what the control group allows if that is
// less. It is defaultMemory where neither is told.
func availableMemory() int64 {
	available := meminfo("/proc/meminfo", "MemAvailable:")
	if limit := number("/sys/fs/cgroup/memory.max"); limit > 0 {
		available = min(available, limit)
	}
	if available <= 0 {
		return defaultMemory
	}
	return available
}

// meminfo returns one line of /proc/meminfo, which counts in KiB (proc(5)).
func meminfo(path, key string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), key); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// number returns the number in a control group file; 0 for "max".
func number(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
