package update

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// adminGates is INTREE005: acknowledgements that the update waits for.
func adminGates(snap *snapshot.Snapshot, report rules.Report) {
	for _, g := range openGates(snap) {
		f := rules.Finding{
			Case: "open", Facts: rules.Facts{"gate": g.Gate}, Object: g.Key, PlanInfo: g.Driver == "",
			Do: []action.Action{action.AckGate{Key: g.Key, Applies: g.Applies}}, Evidence: rules.Cite(append(g.at, snap.Inventory.Cluster.Evidence...)),
		}
		switch d := snap.Catalog.Driver(g.Driver); {
		case g.pending:
			f.Case = "pending"
		case d == nil || d.InTree == "":
		case snap.HasInTree(d.InTree):
			f.Case, f.Facts["plugin"] = "open, with volumes", d.InTree
		case !snap.Covered(inventory.Volumes) && !snap.Request.Static:
			f.Case, f.Facts["plugin"] = "open, volumes unread", d.InTree
		}
		if len(g.Evidence) > 0 {
			f.Source = g.Evidence[0].Source
		}
		report(f)
	}
}

var intree005 = rules.Rule{ID: "INTREE005", Cluster: adminGates, Asks: rules.OfHops, At: rules.AtTarget}
