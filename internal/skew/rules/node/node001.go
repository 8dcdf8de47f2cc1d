package node

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var node001 = rules.Rule{ID: "NODE001", Needs: rules.NeedsNodes, Cluster: kubeletSkew}

func kubeletSkew(snap *snapshot.Snapshot, report rules.Report) {
	if len(snap.Nodes) == 0 {
		return
	}
	server, at, ok := snap.APIServer()
	if !ok {
		if !snap.Release().IsZero() || snap.Hops == 0 && snap.Inventory.Cluster.Other == "" {
			f := rules.Finding{Case: "unknown server", Facts: rules.Facts{"release": rules.ReleaseText(snap.Release(), "the cluster")}, Do: remedy.Payload(snap, snap.Release()), Evidence: snap.CatalogEvidence()}
			if snap.Release().IsZero() {
				f.Do, f.Remedy = nil, remedy.NameRelease(snap)
			}
			report(f)
		}
		return
	}
	for _, nodes := range snapshot.GroupBy(snap.Nodes, func(n *inventory.Node) string { return n.Kubelet }) {
		kubelet, err := version.ParseKubernetes(nodes[0].Kubelet)
		if err != nil {
			report(rules.Finding{
				Case: "unreadable", Facts: rules.Facts{"nodes": nodes, "text": nodes[0].Kubelet}, Evidence: snapshot.NodeEvidence(nodes),
				Do: []action.Action{action.Gather{Text: "look at the node", Get: []string{"get", "node/" + nodes[0].Name, "-o", "jsonpath={.status.nodeInfo.kubeletVersion}"}}},
			})
			continue
		}
		compareKubelet(snap, report, kubelet, server, nodes, at)
	}
}

func compareKubelet(snap *snapshot.Snapshot, report rules.Report, kubelet, server version.Kubernetes, nodes []*inventory.Node, at inventory.Evidence) {
	lag := int(server.Minor) - int(kubelet.Minor)
	allowed, rule := allowedLag(snap, kubelet, server)
	if kubelet.Major == server.Major && lag >= 0 && lag <= allowed {
		return
	}
	if lag < 0 && snap.Underway() && snap.Inventory.Cluster.Kubernetes == "" && snap.Catalog.KubernetesOf(snap.ToMinor()) == kubelet.MinorString() {
		return // the API server may be of the update's release already, as a must-gather doesn't tell
	}
	d := rules.Finding{
		Case: "older", Facts: rules.Facts{"kubelet": kubelet, "server": server, "nodes": nodes, "text": nodes[0].Kubelet, "allowed": allowed, "rule": rule},
		Do: remedy.UpdateWMCO(snap, snap.FromMinor()), Evidence: append(snapshot.NodeEvidence(nodes), at),
	}
	switch behind := snap.LeftBehind(nodes); {
	case lag < 0:
		d.Case, d.Do = "newer", nil
	case operatorBehind(snap, nodes):
		d.NoStep = true // NODE002 asks for the same
	case len(behind) == len(nodes):
		d.Do = lookAtNodes(leftBehind, behind)
	}
	if lag >= 0 && snap.Hop > 0 {
		d.Case = "older later" // by then WMCO has followed; if it hasn't, the cluster refuses the hop
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

// operatorBehind tells whether NODE002 asks for another WMCO on all of these
// nodes at this moment: it brings their kubelet too.
func operatorBehind(snap *snapshot.Snapshot, nodes []*inventory.Node) bool {
	release := snap.CatalogRelease()
	if release == nil || snap.Route.Problem != "" {
		return false
	}
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool {
		known := snap.WMCORow(n.WMCO)
		return known == nil || !slices.Contains(snap.WMCOVersions(), n.WMCO) || known.OpenShift == release.OpenShift || snap.Precedes(known.OpenShift, release.OpenShift)
	})
}
