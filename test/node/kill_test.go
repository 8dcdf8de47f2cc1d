package node

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/winbake/winbake/test/winenode"
)

var kills = flag.Int("kills", 4, "how many changes of a node are killed, each at a random point")

// Killed at any moment, here or on the node too, and run again, a change ends
// right: an upgrade, a downgrade, a removal and an install in turn.
func TestKilledAtRandomAndRunAgainEndsRight(t *testing.T) {
	first, second := image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)
	n := start(t)
	before := n.files()
	n.must("bake", "node", "install", first)
	began := time.Now()
	n.must("bake", "node", "upgrade", second)
	whole := time.Since(began)
	n.must("bake", "node", "upgrade", first)
	for i := range *kills {
		change := [][]string{{"node", "upgrade", second}, {"node", "upgrade", first}, {"node", "remove"}, {"node", "install", first}}[i%4]
		after := time.Duration(rand.Int64N(int64(whole))) //nolint:gosec // any point will do
		t.Logf("%v, killed after %s", change, after)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		n.runFor(ctx, "bake", change...) // killed, unless it was quicker
		cancel()
		if rand.IntN(2) == 0 { //nolint:gosec // either will do
			t.Log("the node's side goes too, as with sshd of Windows")
			n.killAgents()
		}
		n.must("bake", change...)
		if change[1] != "remove" {
			n.healthy(change[2])
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

// killAgents kills what is left of verify.exe.
func (n node) killAgents() {
	n.t.Helper()
	entries, err := os.ReadDir(filepath.Join(n.host(n.Home()), ".winbake"))
	if err != nil {
		return // it wasn't even uploaded
	}
	for _, e := range entries {
		left, err := n.Processes(e.Name())
		if err != nil {
			n.t.Fatal(err)
		}
		for _, p := range left {
			_ = n.Kill(p) // it may have ended by itself
		}
	}
}
