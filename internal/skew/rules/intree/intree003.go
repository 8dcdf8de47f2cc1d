package intree

import (
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Labels of WMCO 8 and 9, which hold a node's update while volumes are
// attached: release-4.14 of openshift/windows-machine-config-operator,
// controllers/controllers.go.
const (
	allowUpgrade   = "windowsmachineconfig.openshift.io/allow-upgrade"
	upgradeBlocked = "windowsmachineconfig.openshift.io/upgrade-blocked"
)

// upgradeLabels is INTREE003: nodes that WMCO holds, or may update at once.
func upgradeLabels(snap *snapshot.Snapshot, report rules.Report) {
	released, others := snapshot.Part(snap.Nodes, func(n *inventory.Node) bool { return n.Labels[allowUpgrade] == "true" })
	held := snapshot.Select(others, func(n *inventory.Node) bool {
		_, blocked := n.Labels[upgradeBlocked]
		return blocked
	})
	for _, nodes := range [][]*inventory.Node{held, released} {
		if len(nodes) > 0 {
			report(labelled(snap, nodes))
		}
	}
}

// labelled is of nodes that WMCO holds, or that it may update. After 4.14 no WMCO looks
// at either label.
func labelled(snap *snapshot.Snapshot, nodes []*inventory.Node) rules.Finding {
	key, names := upgradeBlocked, slices.Sorted(slices.Values(snapshot.NodeNames(nodes)))
	if nodes[0].Labels[allowUpgrade] == "true" {
		key = allowUpgrade
	}
	f := rules.Finding{
		Case: "released nodes", Facts: rules.Facts{"key": key, "nodes": nodes}, Do: []action.Action{action.UnlabelNodes{Nodes: names, Key: key, Value: nodes[0].Labels[key]}},
		Evidence: rules.Cite(snapshot.Map(nodes, func(n *inventory.Node) inventory.Evidence {
			return inventory.Evidence{Where: n.At.Where, Text: key + ": " + n.Labels[key]}
		})),
	}
	switch minor, err := version.ParseOpenShift(snap.FromMinor()); {
	case err == nil && minor.CompareMinor(version.OpenShift{Major: 4, Minor: 14}) > 0:
		f.Case = "labels of an older WMCO"
	case key == upgradeBlocked:
		f.Case = "held nodes"
		f.Do = []action.Action{action.ByHand{
			Text: "see the driver in the node's CSINode, then release one node (" + allowUpgrade + "=true) and see its pods run before the next",
			Look: [][]string{{"oc", "get", "csinode/" + nodes[0].Name, "-o", "jsonpath={.spec.drivers[*].name}"}},
		}}
	case len(nodes) > 1 && len(nodes) == len(snap.Nodes):
		f.Case = "all nodes released"
	}
	return f
}

var intree003 = rules.Rule{ID: "INTREE003", Needs: rules.NeedsNodes, Cluster: upgradeLabels, At: rules.AtNow}
