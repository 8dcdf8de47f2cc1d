// Package update holds the rules on what the cluster itself says about an update
// (UPDATE, INTREE005).
package update

import (
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Acknowledgements is the rule on them; its ID says where it comes from.
var Acknowledgements = []rules.Rule{{ID: "INTREE005", Cluster: adminGates, Asks: rules.OfHops, At: rules.AtTarget}}

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "UPDATE001", Cluster: refusedUpdate, Asks: rules.OfHops, At: rules.AtTarget},
	{ID: "UPDATE002", Needs: rules.NeedsDrivers, Driver: unmanagedLinux},
}

func refusedUpdate(snap *snapshot.Snapshot, report rules.Report) {
	c := snap.Inventory.Cluster.Condition("Upgradeable")
	if snap.Hop > 0 || c == nil || c.Status != "False" || snap.FromMinor() == snap.ToMinor() {
		return
	}
	f := rules.Finding{
		Case: "refused", Facts: rules.Facts{"reason": c.Reason, "message": printable.OneLine(c.Message)}, Evidence: []inventory.Evidence{c.At},
		Do: []action.Action{action.ByHand{
			Text: "fix what the condition names, until it is gone", Object: "ClusterVersion version",
			Look: [][]string{{"oc", "adm", "upgrade"}, {"oc", "get", "clusteroperators"}},
		}},
	}
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

func unmanagedLinux(v *snapshot.View, report rules.Report) {
	i := slices.IndexFunc(v.At.Inventory.Cluster.CSIDrivers, func(c inventory.ClusterCSIDriver) bool { return c.Name == v.DaemonSet.Provisioner })
	if v.DaemonSet.Provisioner == "" || i < 0 || v.At.Hops > 0 && v.At.Phase != snapshot.Target {
		return
	}
	c := v.At.Inventory.Cluster.CSIDrivers[i]
	if c.Management != "Unmanaged" && c.Management != "Removed" {
		return
	}
	d := rules.Finding{Case: "unmanaged", Facts: rules.Facts{"csidriver": c}, Evidence: []inventory.Evidence{c.At}}
	if v.At.Hops > 0 {
		d.Severity = finding.Warn
		d.Do = []action.Action{action.ByHand{
			Text:   "set managementState of ClusterCSIDriver " + c.Name + " to Managed, or deploy the Windows driver by the Linux DaemonSet that stays",
			Object: "ClusterCSIDriver " + c.Name, Look: [][]string{{"oc", "get", "clustercsidriver", c.Name, "-o", "yaml"}},
			Judge: "why somebody took it out of the operator's hands",
		}}
	}
	report(d)
}
