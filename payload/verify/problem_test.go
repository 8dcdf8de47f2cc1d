package verify

import (
	"strings"
	"testing"
)

// Each check says why it matters and what to do.
func TestGrounds(t *testing.T) {
	for id, g := range grounds() {
		if g.Why == "" || g.Remedy == "" || !strings.HasPrefix(id, "payload.") {
			t.Errorf("%s: %+v", id, g)
		}
	}
	if got := len(grounds()); got != 24 {
		t.Errorf("%d checks, want 24", got)
	}
}
