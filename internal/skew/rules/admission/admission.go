// Package admission holds the rules on whether a driver's pods are let in, by
// the namespace and by the nodes (POLICY, NODE004).
package admission

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "POLICY001", Needs: rules.NeedsDrivers, Driver: refusedPods},
	{ID: "NODE004", Needs: rules.NeedsScope, Cluster: untoleratedTaints, At: rules.AtNow},
}

// refusedPods is POLICY001.
func refusedPods(v *snapshot.View, report rules.Report) {
	n := v.At.Inventory.Cluster.Namespace(v.DaemonSet.Object.Namespace)
	if n == nil || n.Enforce != "baseline" && n.Enforce != "restricted" || !v.DaemonSet.HostProcess && len(v.DaemonSet.Pipes)+len(v.DaemonSet.Unmounted) == 0 {
		return
	}
	d := rules.Finding{
		Severity: finding.Block, When: rules.Before, Evidence: slices.Concat([]inventory.Evidence{n.At}, v.DaemonSet.Evidence[:min(1, len(v.DaemonSet.Evidence))]),
		Observed: fmt.Sprintf("namespace %s enforces the Pod Security level %s", n.Name, n.Enforce),
		Expected: "the level privileged",
		Why:      "the API server refuses each new pod of the DaemonSet; only the DaemonSet's events tell",
		Do:       []action.Action{action.SetPodSecurity{Namespace: n.Name, Was: n}},
	}
	if r := v.DaemonSet.Rollout; !v.Planned && v.At.Hops == 0 && r != nil && r.Desired > 0 && r.Ready >= r.Desired {
		d.Severity = finding.Warn
		d.Why = "the pods that are there stay; a new one, on a new node or after a change, is refused"
	}
	report(d)
}

// untoleratedTaints is NODE004. Of planned manifests REG004 tells.
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
		Severity: finding.Warn, Object: v.DaemonSet.Object.String(), When: rules.Before, Evidence: rules.Cite(slices.Concat(v.DaemonSet.Evidence[:min(1, len(v.DaemonSet.Evidence))], snapshot.NodeEvidence(nodes))),
		Observed: fmt.Sprintf("it doesn't tolerate %s of %s", taints(v.DaemonSet, nodes), rules.SomeOf(snapshot.NodeNames(nodes))),
		Expected: "a toleration for each taint of the Windows nodes",
		Why:      "it runs on no Windows node, and no volume can be mounted there",
	}
	if len(v.Nodes) > 0 {
		d.Severity, d.Why = finding.Info, "it runs on other Windows nodes; where these are to have no storage, nothing is wrong"
	} else {
		d.Do = remedy.Tolerate(v.DaemonSet)
	}
	report(d)
}

// taints are those of nodes that keep pods of d off.
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
