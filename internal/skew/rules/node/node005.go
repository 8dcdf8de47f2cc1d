package node

import (
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// oldRuntime is NODE005: a HostProcess driver on nodes whose container runtime runs
// no such containers, or has their volumes elsewhere than the pod asks for.
func oldRuntime(v *snapshot.View, report rules.Report) {
	if !v.DaemonSet.HostProcess {
		return
	}
	for _, nodes := range snapshot.GroupBy(v.Nodes, func(n *inventory.Node) string { return n.Runtime }) {
		runtime := nodes[0].Runtime
		runs, binds, known := catalog.HostProcessOn(runtime)
		d := rules.Finding{
			Case: "no HostProcess", Facts: rules.Facts{"runtime": runtime, "nodes": nodes},
			Same: runtime, Nodes: nodes, Evidence: append(v.Evidence(), snapshot.NodeEvidence(nodes)...),
		}
		switch {
		case !known || runs && (binds || v.DaemonSet.Paths.Endpoint == nil || v.DaemonSet.Paths.Endpoint.Mount == ""):
			continue
		case runs:
			d.Case = "socket below a mount"
		}
		report(d)
	}
}

var node005 = rules.Rule{ID: "NODE005", Needs: rules.NeedsScope, Driver: oldRuntime, Starts: true, At: rules.AtNow}
