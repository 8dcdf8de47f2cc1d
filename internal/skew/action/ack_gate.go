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
	inv.Cluster.AdminAcks = append(slices.Clip(inv.Cluster.AdminAcks), a.Key)
}

func (AckGate) rank() int { return rankLast }
