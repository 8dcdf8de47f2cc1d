package update

import (
	"github.com/winbake/winbake/internal/base/finding"
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
	f := ofCondition(c, "failing", "fix what the condition Failing names, until it is gone")
	if snap.Hops == 0 {
		f.Severity = finding.Warn
	}
	report(f)
}
