// Package node holds the rules on Windows nodes: kubelet, WMCO, Windows itself
// (NODE).
package node

import (
	"cmp"
	"fmt"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "NODE001", Needs: rules.NeedsNodes, Cluster: kubeletSkew, At: rules.ExceptPlan},
	{ID: "NODE002", Needs: rules.NeedsNodes, Cluster: operatorSkew, At: rules.ExceptPlan},
	{ID: "NODE003", Needs: rules.NeedsScope, Driver: windowsBuild, Lacks: true, Starts: true, At: rules.ExceptTarget},
	{ID: "NODE005", Needs: rules.NeedsScope, Driver: oldRuntime, Starts: true, At: rules.ExceptTarget},
}

// kubeletSkew is NODE001.
func kubeletSkew(snap *snapshot.Snapshot, report rules.Report) {
	if len(snap.Nodes) == 0 {
		return
	}
	server, at, ok := snap.APIServer()
	if !ok {
		if !snap.Release().IsZero() || snap.Hops == 0 {
			report(unknownServer(snap))
		}
		return
	}
	for _, text := range snap.Kubelets() {
		nodes := snapshot.Select(snap.Nodes, func(n *inventory.Node) bool { return n.Kubelet == text })
		kubelet, err := version.ParseKubernetes(text)
		if err != nil {
			report(rules.Finding{
				Severity: finding.Unknown, Object: "kubelet " + cmp.Or(text, "unknown"),
				Observed: fmt.Sprintf("%q on %s", text, rules.SomeOf(snapshot.NodeNames(nodes))), Expected: "a version such as v1.32.9",
				Why:  "whether the kubelet fits the API server can't be told",
				Do:   []action.Action{action.Gather{Text: "look at the node", Get: []string{"get", "node", nodes[0].Name, "-o", "jsonpath={.status.nodeInfo.kubeletVersion}"}}},
				When: rules.Before, Evidence: snapshot.NodeEvidence(nodes),
			})
			continue
		}
		compareKubelet(snap, report, kubelet, server, nodes, at)
	}
}

// compareKubelet judges the nodes that run one version.
func compareKubelet(snap *snapshot.Snapshot, report rules.Report, kubelet, server version.Kubernetes, nodes []*inventory.Node, at inventory.Evidence) {
	lag := int(server.Minor) - int(kubelet.Minor)
	allowed, rule := allowedLag(snap, kubelet, server)
	if kubelet.Major == server.Major && lag >= 0 && lag <= allowed {
		return
	}
	d := rules.Finding{
		Severity: finding.Block, Object: "kubelet " + nodes[0].Kubelet,
		Observed: fmt.Sprintf("kubelet %s on %s, API server %s", kubelet, rules.SomeOf(snapshot.NodeNames(nodes)), server.MinorString()),
		Expected: fmt.Sprintf("a kubelet at most %s older than the API server", inventory.Many(allowed, "minor")),
		Why:      rule,
		Do:       remedy.UpdateWMCO(snap, snap.FromMinor()),
		When:     rules.Before, Evidence: append(snapshot.NodeEvidence(nodes), at),
	}
	switch {
	case lag < 0:
		d.Observed += ": the kubelet is newer"
		d.Why = "a kubelet must never be newer than the API server"
		d.Do, d.Remedy = nil, "finish the update of the control plane first, or replace the nodes by ones of the right version"
	case snap.Hop > 0:
		// By then WMCO has followed; if it hasn't, the cluster refuses the hop.
		d.Severity = finding.Info
		d.Why = "the kubelets must have followed by then, which they do when WMCO is updated after each hop"
	}
	switch behind := snap.LeftBehind(nodes); {
	case lag < 0:
	case operatorBehind(snap, nodes):
		d.NoStep = true // NODE002 asks for the same
	case len(behind) == len(nodes):
		d.Do = lookAtNodes(behind)
	}
	report(d)
}

// allowedLag is how many minors a kubelet may be older, and whose rule that is.
// In the middle of an update the API server may be of the next release already:
// its rule holds. One that is of neither isn't that OpenShift's API server.
func allowedLag(snap *snapshot.Snapshot, kubelet, server version.Kubernetes) (int, string) {
	r := snap.CatalogRelease()
	if r != nil && r.Kubernetes != server.MinorString() {
		r = snap.NextWith(r, server)
	}
	if r != nil && r.KubeletSkew > 0 {
		return r.KubeletSkew, fmt.Sprintf("OpenShift %s allows a kubelet to lag %s behind the API server", r.OpenShift, inventory.Many(r.KubeletSkew, "minor"))
	}
	if kubelet.Minor < 25 {
		return 2, "Kubernetes allows a kubelet before 1.25 to lag 2 minors behind the API server"
	}
	return 3, "Kubernetes allows a kubelet to lag 3 minors behind the API server"
}

func unknownServer(snap *snapshot.Snapshot) rules.Finding {
	return rules.Finding{
		Severity: finding.Unknown, Object: "API server",
		Observed: "which Kubernetes " + rules.ReleaseText(snap.Release(), "the cluster") + " runs isn't known",
		Expected: "a release that the catalog knows, or its payload",
		Why:      "whether the Windows kubelets fit it can't be told",
		Remedy:   "name the cluster's release with --from, and give the target's payload with --release-image",
		When:     rules.Before, Evidence: snap.CatalogEvidence(), NoStep: true,
	}
}
