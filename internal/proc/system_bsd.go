//go:build unix && !linux

package proc

import "os"

// maxRSSBytes converts ru_maxrss, which macOS counts in bytes (getrusage(2)).
func maxRSSBytes(maxrss int64) int64 { return maxrss }

// self is this program; where it can't be found, a name that starts nothing.
func self() string {
	name, _ := os.Executable()
	return name
}
