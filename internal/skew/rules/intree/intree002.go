package intree

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var intree002 = rules.Rule{ID: "INTREE002", Needs: []inventory.Resource{inventory.Pods}, Cluster: neverMigrated, Asks: rules.OfHops, At: rules.AtTarget}

// neverMigrated is INTREE002: in-tree volumes on a platform where nothing
// moves them from before 4.12.
func neverMigrated(snap *snapshot.Snapshot, report rules.Report) {
	for _, use := range snap.InTreeUses() {
		if on, _ := snap.OnCSI(use.Plugin, snap.ToMinor()); !on || !snap.NotMigrated(use) {
			continue
		}
		f := inUse(use, "never migrated", nil)
		f.Facts["platforms"] = snapshot.NeverMigrated
		report(f)
	}
}
