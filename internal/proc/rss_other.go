//go:build !linux

package proc

// maxRSSBytes converts ru_maxrss, which macOS counts in bytes (getrusage(2)).
func maxRSSBytes(maxrss int64) int64 { return maxrss }
