package admission

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var policy001 = rules.Rule{ID: "POLICY001", Needs: rules.NeedsDrivers, Driver: refusedPods}

func refusedPods(v *snapshot.View, report rules.Report) {
	n := v.At.Inventory.Cluster.Namespace(v.DaemonSet.Object.Namespace)
	if n == nil || n.Enforce != "baseline" && n.Enforce != "restricted" || !v.DaemonSet.HostProcess && len(v.DaemonSet.Pipes)+len(v.DaemonSet.Unmounted) == 0 {
		return
	}
	d := rules.Finding{
		Case: "refused", Facts: rules.Facts{"ns": n}, Do: []action.Action{action.SetPodSecurity{Namespace: n.Name, Was: n}},
		Evidence: slices.Concat([]inventory.Evidence{n.At}, v.DaemonSet.Evidence[:min(1, len(v.DaemonSet.Evidence))]),
	}
	if r := v.DaemonSet.Rollout; v.At.Hops == 0 && r != nil && r.Desired > 0 && r.Ready >= r.Desired {
		d.Case = "new ones refused"
	}
	report(d)
}
