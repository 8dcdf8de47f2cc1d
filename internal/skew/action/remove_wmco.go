package action

import (
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// RemoveWMCO takes the operator away for an update over two minors. Its
// namespace, with the key Secret and the ConfigMap windows-instances, stays.
type RemoveWMCO struct {
	defaults
	// To is where the update ends.
	To version.OpenShift
}

// apply takes it out; the nodes stay as it configured them.
func (RemoveWMCO) apply(inv *inventory.Inventory) { inv.Cluster.WMCO = "" }

func (RemoveWMCO) rank() int { return rankNodes }
