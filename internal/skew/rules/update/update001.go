package update

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var update001 = rules.Rule{ID: "UPDATE001", Cluster: refusedUpdate, Asks: rules.OfHops, At: rules.AtTarget}

func refusedUpdate(snap *snapshot.Snapshot, report rules.Report) {
	c := snap.Inventory.Cluster.Condition("Upgradeable")
	if snap.Hop > 0 || c == nil || c.Status != "False" || snap.FromMinor() == snap.ToMinor() {
		return
	}
	f := ofCondition(c, "refused", "fix what the condition names, until it is gone")
	if c.Reason == ackRequired {
		// INTREE005 says what to acknowledge. A gate that has just been acknowledged
		// keeps the condition for a moment.
		if len(openGates(snap)) > 0 || snap.Covered(inventory.AdminGates) && len(hopGates(snap)) > 0 {
			return
		}
		f.Severity = finding.Warn
	}
	report(f)
}

// ofCondition is what a condition of the ClusterVersion says, and what shows its cause.
func ofCondition(c *inventory.Condition, name, fix string) rules.Finding {
	return rules.Finding{
		Case: name, Facts: rules.Facts{"reason": c.Reason, "message": printable.OneLine(c.Message)}, Evidence: []inventory.Evidence{c.At},
		Do: []action.Action{action.ByHand{
			Text: fix, Object: "ClusterVersion version", Look: [][]string{{"oc", "adm", "upgrade"}, {"oc", "get", "clusteroperators"}},
		}},
	}
}
