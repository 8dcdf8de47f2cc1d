package admission

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var node004 = rules.Rule{ID: "NODE004", Needs: rules.NeedsScope, Cluster: untoleratedTaints, At: rules.AtNow}

func untoleratedTaints(snap *snapshot.Snapshot, report rules.Report) {
	for _, v := range snap.Views {
		if v.DaemonSet.Provisioner != "" {
			untolerated(v, report)
		}
	}
}

func untolerated(v *snapshot.View, report rules.Report) {
	nodes := snapshot.Select(v.At.Nodes, func(n *inventory.Node) bool {
		return v.DaemonSet.Scheduling.Selects(*n) && !v.DaemonSet.Scheduling.Tolerates(*n) && v.At.Serving(v.DaemonSet.Provisioner, n) == nil
	})
	used, _ := v.At.Using(v.DaemonSet.Provisioner, true, nodes)
	if len(nodes) == 0 || len(used) > 0 && len(v.Nodes) > 0 {
		return // REG001 reports nodes that need it
	}
	d := rules.Finding{
		Case: "untolerated", Facts: rules.Facts{"taints": taints(v.DaemonSet, nodes), "nodes": nodes, "set": v.DaemonSet.Object}, Do: remedy.Tolerate(v.DaemonSet),
		Evidence: rules.Cite(slices.Concat(v.DaemonSet.Evidence[:min(1, len(v.DaemonSet.Evidence))], snapshot.NodeEvidence(nodes))),
	}
	if len(v.Nodes) > 0 {
		d.Case, d.Do = "untolerated by some", nil
	}
	report(d)
}

func taints(d *inventory.Driver, nodes []*inventory.Node) string {
	var names []string
	for _, n := range nodes {
		for _, t := range n.Taints {
			one := *n
			if one.Taints = []inventory.Taint{t}; !d.Scheduling.Tolerates(one) {
				names = append(names, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
			}
		}
	}
	return rules.SomeOf(names)
}
