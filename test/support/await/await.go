// Package await waits for states in tests. How long one takes depends on what
// else the machine does, so that the only limit is the one of the test run
// itself, `go test -timeout`.
package await

import (
	"testing"
	"time"
)

// margin is what is left of a run when a wait gives up, for the test to say what
// it waited for and for others to end.
const margin = 30 * time.Second

// True waits until now says true. what names that state; instead, if given,
// tells what there is where it never comes.
func True(t testing.TB, what string, now func() bool, instead ...func() any) {
	t.Helper()
	for !now() {
		if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
			if end, limited := d.Deadline(); limited && time.Until(end) < margin {
				for _, f := range instead {
					t.Log(f())
				}
				t.Fatalf("it never came: %s", what)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}
