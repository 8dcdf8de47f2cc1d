package proc

// maxRSSBytes converts ru_maxrss, which Linux counts in KiB (getrusage(2)).
func maxRSSBytes(maxrss int64) int64 { return maxrss << 10 }

// self is this program, also when its file was replaced or removed since.
func self() string { return "/proc/self/exe" }
