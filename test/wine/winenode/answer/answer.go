// Package answer is what the test node and its PowerShell double agree on: the
// calls that are expected, what each is answered, and what was called. The one
// runs on Linux, the other in Wine, so they meet in files.
package answer

import "strings"

// Where the two meet on the node.
const (
	ExpectFile = `C:\winenode\expect.json` // a JSON list of answers
	CallFile   = `C:\winenode\calls.json`  // a line of JSON for each call
)

// Unexpected is the exit code of a call that nobody announced. PowerShell's own
// are 0 and 1.
const Unexpected = 86

// Answer is an expected call and what it is answered.
type Answer struct {
	// Contains must all be in the command line, its arguments joined by spaces.
	Contains []string
	// Env are variables the call must have: csi-proxy hands its parameters over
	// in them, so that no path can be read as script.
	Env    map[string]string
	Stdout string
	Stderr string
	Exit   int
}

// Fits says whether the answer is for this call.
func (a Answer) Fits(c Call) bool {
	line := strings.Join(c.Args, " ")
	for _, part := range a.Contains {
		if !strings.Contains(line, part) {
			return false
		}
	}
	for name, value := range a.Env {
		if c.variable(name) != value {
			return false
		}
	}
	return true
}

// variable is a variable's value: on Windows case doesn't tell names apart.
func (c Call) variable(name string) string {
	for k, v := range c.Env {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// Call is one start of powershell.exe.
type Call struct {
	Args     []string
	Env      map[string]string
	Expected bool // one of the answers fitted
}
