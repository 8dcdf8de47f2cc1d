// Package registration holds the rules on whether drivers are registered with
// their nodes, once each (REG).
package registration

import (
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "REG001", Needs: []inventory.Resource{inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods}, Driver: notRegistered, Cluster: unreached, At: rules.ExceptTarget},
	{ID: "REG002", Needs: rules.NeedsDrivers, Driver: byOperator, Cluster: doubleDriver},
	{ID: "REG003", Needs: rules.NeedsDrivers, Driver: oldRegistrar, Starts: true, At: rules.ExceptTarget},
	{ID: "REG004", Needs: rules.NeedsDrivers, Driver: notReady, Cluster: plannedNowhere, At: rules.ExceptTarget},
	{ID: "REG005", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: topology, At: rules.AtNow},
}
