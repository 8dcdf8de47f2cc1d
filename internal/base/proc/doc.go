// Package proc starts programs so that they end with us: a cancelled context
// ends the whole process group, compilers and linkers included.
//
// It isn't for talking to programs: what they print and mean is the caller's.
package proc

import "time"

// grace is how long a program has to end itself after it was asked to. Ctrl-C
// stops within a second.
const grace = 500 * time.Millisecond
