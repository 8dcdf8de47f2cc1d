package action

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// AckGate acknowledges what an update waits for.
type AckGate struct {
	defaults
	Key string
	// Applies says whom it concerns, and what must be true first.
	Applies string
}

func (a AckGate) apply(inv *inventory.Inventory) {
	if c := &inv.Cluster; !slices.Contains(c.AdminAcks, a.Key) {
		c.AdminAcks = append(slices.Clip(c.AdminAcks), a.Key)
	}
}

func (AckGate) rank() int { return rankLast }
