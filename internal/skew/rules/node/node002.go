package node

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var node002 = rules.Rule{ID: "NODE002", Needs: rules.NeedsNodes, Cluster: operatorSkew}

func operatorSkew(snap *snapshot.Snapshot, report rules.Report) {
	if c := snap.Inventory.Cluster.CSV; snap.Phase == snapshot.Now && !c.Installed() {
		report(rules.Finding{Case: "not installed", Facts: rules.Facts{"csv": c, "says": strings.Trim(printable.OneLine(c.Reason+": "+c.Message), ": ")}, Do: []action.Action{action.FinishWMCO{CSV: *c}}, Evidence: []inventory.Evidence{c.At}})
	}
	if at := snapshot.Select(snap.Nodes, func(n *inventory.Node) bool { return n.DesiredWMCO != "" && n.WMCO != n.DesiredWMCO }); snap.Phase == snapshot.Now && snap.Hops > 0 && len(at) > 0 {
		report(rules.Finding{Case: "at work", Facts: rules.Facts{"nodes": at}, Do: lookAtNodes("wait until WMCO has configured %s, or see why it doesn't", snapshot.NodeNames(at)), Evidence: snapshot.NodeEvidence(at)}) // at rest AFTER004 says so
	}
	release := snap.CatalogRelease()
	if release == nil {
		return // DATA001 says so
	}
	if snap.Phase == snapshot.Target && snap.Route.Problem == "" && len(snap.Catalog.WMCOFor(release.OpenShift)) == 0 && snap.UsesWMCO() {
		report(rules.Finding{
			Case: "none for the target", Facts: rules.Facts{"minor": release.OpenShift}, Evidence: snap.CatalogEvidence(),
			Do: []action.Action{action.ByHand{Text: "wait until OperatorHub has one, or choose a target that has one", Look: [][]string{{"oc", "get", "packagemanifest", "windows-machine-config-operator"}}}},
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
		Facts: rules.Facts{"text": text, "minor": minor, "follows": follows(snap, minor)}, Evidence: snap.Inventory.Cluster.Evidence,
		Do: remedy.UpdateWMCO(snap, follows(snap, minor)),
	}
	its := snapshot.Select(snap.Nodes, func(n *inventory.Node) bool { return n.WMCO == text })
	if snap.Inventory.Cluster.WMCO != text {
		d.Evidence = snapshot.NodeEvidence(its)
	}
	if behind := snap.LeftBehind(its); len(behind) > 0 {
		d.Do = lookAtNodes(leftBehind, behind)
	}
	known := snap.WMCORow(text)
	switch {
	case known == nil:
		d.Case = "unknown"
		d.Do = []action.Action{action.Gather{Text: "look at the operator, and add its release to the catalog with --catalog where it is new", Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "csv"}}}
	case known.OpenShift == minor || snap.Precedes(known.OpenShift, minor), snap.Route.Problem != "" && snap.Phase != snapshot.Now:
		return // it fits, or DATA001 says that the route isn't known
	case snap.Hop > 0 && snap.From.Minor%2 == 1 && snapshot.ControlPlaneOnly(snap.Request, &snap.Inventory.Cluster) != "", snapshot.HalfWay(snap.Request, &snap.Inventory.Cluster, snap.From):
		return // it is removed before, and comes back after
	case snap.Hop > 0:
		d.Case, d.Facts["its"] = "other minor later", known.OpenShift
	default:
		d.Case, d.Facts["its"] = "other minor", known.OpenShift
		if snap.Precedes(minor, known.OpenShift) { // OLM takes no operator back
			d.Do = []action.Action{action.ByHand{Text: fmt.Sprintf("update the cluster to %s, which this WMCO is for, or remove WMCO and install its release for %s", known.OpenShift, minor), Look: [][]string{
				{"oc", "-n", "openshift-windows-machine-config-operator", "get", "subscriptions.operators.coreos.com,installplans,csv"},
			}}}
		}
	}
	report(d)
}

// follows is the minor that WMCO should be for before the cluster goes to a
// minor: the one before it. At rest it is the minor itself.
func follows(snap *snapshot.Snapshot, minor string) string {
	if snap.Phase != snapshot.Now && !snap.From.IsZero() && snap.From.MinorString() != minor {
		return snap.From.MinorString()
	}
	return minor
}
