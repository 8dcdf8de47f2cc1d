// Package after holds the check after an update (AFTER).
package after

import (
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "AFTER001", Needs: rules.NeedsDrivers, Cluster: afterRollouts, Asks: rules.OfState},
	{ID: "AFTER002", Needs: []inventory.Resource{inventory.Volumes, inventory.Claims}, Cluster: afterMigrated, Asks: rules.OfRest},
	{ID: "AFTER003", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: afterNodes, Asks: rules.OfRest},
	{ID: "AFTER004", Needs: rules.NeedsNodes, Cluster: afterWindows, Asks: rules.OfRest},
}
