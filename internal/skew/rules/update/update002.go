package update

import (
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var update002 = rules.Rule{ID: "UPDATE002", Needs: rules.NeedsDrivers, Driver: unmanagedLinux}

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
			Object: "ClusterCSIDriver " + c.Name, Look: [][]string{{"oc", "get", "clustercsidriver/" + c.Name, "-o", "yaml"}},
			Judge: "why somebody took it out of the operator's hands",
		}}
	}
	report(d)
}
