package update

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var update004 = rules.Rule{ID: "UPDATE004", Cluster: failing, At: rules.AtNow}

// failing is UPDATE004: the cluster can't bring its operators to the release that it is at.
// Of an update that isn't complete AFTER001 says so.
func failing(snap *snapshot.Snapshot, report rules.Report) {
	c := snap.Inventory.Cluster.Condition("Failing")
	if c == nil || c.Status != "True" || snap.Inventory.Cluster.Updating != "" {
		return
	}
	f := rules.Finding{
		Case: "failing", Facts: rules.Facts{"reason": c.Reason, "message": printable.OneLine(c.Message)}, Evidence: []inventory.Evidence{c.At},
		Do: []action.Action{action.ByHand{
			Text: "fix what the condition Failing names, until it is gone", Object: "ClusterVersion version",
			Look: [][]string{{"oc", "adm", "upgrade"}, {"oc", "get", "clusteroperators"}},
		}},
	}
	if snap.Hops == 0 {
		f.Severity = finding.Warn
	}
	report(f)
}
