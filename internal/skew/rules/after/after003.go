package after

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/intree"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var after003 = rules.Rule{ID: "AFTER003", Like: &intree.Rules[0], Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: afterNodes, Asks: rules.OfRest}

// afterNodes is AFTER003: nodes without the driver that serves in-tree volumes
// of Windows pods now.
func afterNodes(snap *snapshot.Snapshot, report rules.Report) {
	for _, use := range snap.InTreeUses() {
		if on, _ := snap.OnCSI(use.Plugin, snap.FromMinor()); on {
			intree.CheckNodes(snap, use, report)
		}
	}
	intree.UnknownVolumes(snap, report)
}
