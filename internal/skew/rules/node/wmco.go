package node

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

// operatorSkew is NODE002.
func operatorSkew(snap *snapshot.Snapshot, report rules.Report) {
	release := snap.CatalogRelease()
	if release == nil {
		return // DATA001 says so
	}
	if snap.Phase == snapshot.Target && snap.Route.Problem == "" && len(snap.Catalog.WMCOFor(release.OpenShift)) == 0 && snap.UsesWMCO() {
		report(rules.Finding{
			Severity: finding.Warn, Object: "WMCO for " + release.OpenShift,
			Observed: fmt.Sprintf("the catalog (of %s) knows no release of WMCO for OpenShift %s", snap.Catalog.AsOf, release.OpenShift),
			Expected: "a release of WMCO for the target",
			Why:      "without one the Windows nodes can't follow the control plane",
			Do:       []action.Action{action.ByHand{Text: "wait until OperatorHub has one, or choose a target that has one", Look: [][]string{{"oc", "get", "packagemanifest", "windows-machine-config-operator"}}}},
			When:     rules.Before, Evidence: snap.CatalogEvidence(),
		})
	}
	for _, text := range snap.WMCOVersions() {
		compareOperator(snap, report, text, release.OpenShift)
	}
}

// compareOperator judges one version of WMCO that runs, or ran when it
// configured nodes.
func compareOperator(snap *snapshot.Snapshot, report rules.Report, text, minor string) {
	d := rules.Finding{
		Object: "WMCO " + text, When: rules.Before, Evidence: snap.Inventory.Cluster.Evidence,
		Do: remedy.UpdateWMCO(snap, follows(snap, minor)),
	}
	its := snapshot.Select(snap.Nodes, func(n *inventory.Node) bool { return n.WMCO == text })
	if snap.Inventory.Cluster.WMCO != text {
		d.Evidence = snapshot.NodeEvidence(its)
	}
	if behind := snap.LeftBehind(its); len(behind) > 0 {
		d.Do = lookAtNodes(behind)
	}
	known := snap.WMCORow(text)
	switch {
	case known == nil:
		d.Severity = finding.Unknown
		d.Observed, d.Expected = "version "+text, "a release of WMCO that the catalog knows"
		d.Why = "which minor of OpenShift it is for can't be told"
		d.Do = []action.Action{action.Gather{Text: "look at the operator, and add its release to the catalog with --catalog where it is new", Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "csv"}}}
	case known.OpenShift == minor || snap.Precedes(known.OpenShift, minor), snap.Route.Problem != "" && snap.Phase != snapshot.Now:
		return // it fits, or DATA001 says that the route isn't known
	case (snap.Hop > 0 || snap.Inventory.Cluster.WMCO == "") && snap.From.Minor%2 == 1 && snapshot.ControlPlaneOnly(snap.Request, &snap.Inventory.Cluster):
		return // it is removed before, and comes back after
	case snap.Hop > 0:
		d.Severity = finding.Info
		d.Observed, d.Expected = operatorText(snap, text, known.OpenShift, minor), "WMCO for "+follows(snap, minor)+" or "+minor
		d.Why = "WMCO must have followed by then"
	default:
		d.Severity = finding.Warn
		d.Observed, d.Expected = operatorText(snap, text, known.OpenShift, minor), "WMCO for "+minor+", or for the minor before it while the cluster updates"
		d.Why = "a release of WMCO serves its own minor, and the next one only while the cluster updates"
	}
	report(d)
}

// lookAtNodes is for nodes that WMCO doesn't configure.
func lookAtNodes(names []string) []action.Action {
	return []action.Action{action.ByHand{Text: "WMCO is newer than these nodes: see why it doesn't configure " + rules.SomeOf(names), Look: [][]string{
		{"oc", "get", "node", names[0], "-o", "yaml"},
		{"oc", "-n", "openshift-windows-machine-config-operator", "logs", "deployment/windows-machine-config-operator"},
	}}}
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

func operatorText(snap *snapshot.Snapshot, text, its, minor string) string {
	return fmt.Sprintf("WMCO %s is for OpenShift %s, the cluster %s %s", text, its, map[bool]string{true: "is at", false: "goes to"}[snap.Phase == snapshot.Now], minor)
}

// follows is the minor that WMCO should be for before the cluster goes to a
// minor: the one before it. At rest it is the minor itself.
func follows(snap *snapshot.Snapshot, minor string) string {
	if snap.Phase != snapshot.Now && !snap.From.IsZero() && snap.From.MinorString() != minor {
		return snap.From.MinorString()
	}
	return minor
}
