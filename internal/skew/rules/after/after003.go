package after

import (
	_ "embed"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/intree"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

//go:embed after003.yaml
var after003Texts string

var after003 = rules.Rule{
	ID: "AFTER003", Texts: after003Texts, Cases: intree.Gate.Texts, Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: afterNodes, Asks: rules.OfRest,
}

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
