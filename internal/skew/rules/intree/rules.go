// Package intree holds the rules on in-tree volumes that block an update
// (INTREE, and AFTER003).
package intree

import (
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "INTREE001", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: inTreeGate, Asks: rules.OfHops, At: rules.ExceptPlan},
	{ID: "INTREE002", Needs: []inventory.Resource{inventory.Pods}, Cluster: neverMigrated, Asks: rules.OfHops, At: rules.AtTarget},
	{ID: "INTREE003", Needs: rules.NeedsNodes, Cluster: upgradeLabels, At: rules.AtNow},
	{ID: "INTREE004", Needs: rules.NeedsDrivers, Driver: earlyVSphere, At: rules.ExceptTarget},
}
