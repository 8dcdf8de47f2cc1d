package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// FinishWMCO waits for a WMCO that OLM hasn't installed, which a person may have to
// look into.
type FinishWMCO struct {
	defaults
	CSV inventory.ClusterServiceVersion
}

func (FinishWMCO) apply(inv *inventory.Inventory) { inv.Cluster.CSV = nil }

func (FinishWMCO) rank() int { return rankFirst }
