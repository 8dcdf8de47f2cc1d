package node

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/winbake/winbake/test/wine/winenode"
)

var kills = flag.Int("kills", 4, "how many changes of a node are killed, each at a random point")

// Killed at any moment and run again, a change ends right: an upgrade, a
// downgrade, a removal and an install in turn.
func TestKilledAtRandomAndRunAgainEndsRight(t *testing.T) {
	first, second := image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)
	n := start(t)
	before := n.files()
	n.must("install", first)
	began := time.Now()
	n.must("install", second)
	whole := time.Since(began)
	n.must("install", first)
	for i := range *kills {
		change := [][]string{{"install", second}, {"install", first}, {"remove"}, {"install", first}}[i%4]
		after := time.Duration(rand.Int64N(int64(whole))) //nolint:gosec // any point will do
		t.Logf("%v, killed after %s", change, after)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		n.runFor(ctx, change...) // killed, unless it was quicker
		cancel()
		n.must(change...)
		if change[0] != "remove" {
			n.healthy(change[1])
			continue
		}
		for path := range n.files() {
			if !before[path] {
				t.Errorf("a removal that was killed and run again left %s", path)
			}
		}
		if left := n.proxies(); len(left) > 0 {
			t.Errorf("it left %v", left)
		}
	}
}
