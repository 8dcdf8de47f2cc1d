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
			Look: [][]string{{"oc", "get", "csinode", nodes[0].Name, "-o", "jsonpath={.spec.drivers[*].name}"}},
		}}
	case len(nodes) > 1 && len(nodes) == len(snap.Nodes):
		f.Case = "all nodes released"
	}
	return f
}

// featureOff tells whether use needs vSphere's driver and the cluster's
// release doesn't let it serve Windows.
func featureOff(snap *snapshot.Snapshot, use snapshot.InTreeUse) bool {
	d := snap.Catalog.ByInTree(use.Plugin)
	return d != nil && d.Name == "vsphere" && snapshot.BeforeVSphere(snap.FromMinor())
}

// earlyVSphere is INTREE004: vSphere's Windows driver on a release that doesn't
// let it serve Windows. On the way to one that does, it only waits.
func earlyVSphere(v *snapshot.View, report rules.Report) {
	minor := v.At.FromMinor()
	if v.At.Phase == snapshot.Planned {
		minor = v.At.ToMinor()
	}
	if v.DaemonSet.Line != "vsphere" || !snapshot.BeforeVSphere(minor) || registeredEverywhere(v) {
		return
	}
	f := rules.Finding{Case: "early", Facts: rules.Facts{"minor": minor, "first": snapshot.FirstVSphere}, Evidence: rules.Cite(v.DaemonSet.Evidence[:min(2, len(v.DaemonSet.Evidence))])}
	if !snapshot.BeforeVSphere(v.At.Target.MinorString()) {
		f.Case = "early, waits"
	} else {
		f.Do = []action.Action{action.DeleteDaemonSet{Object: v.DaemonSet.Object, Why: "it serves no volume before the control plane is at " + snapshot.FirstVSphere + "; keep in-tree volumes until then"}}
	}
	report(f)
}

// registeredEverywhere tells whether a driver runs somewhere and each of these nodes
// lists it: then somebody switched the feature on.
func registeredEverywhere(v *snapshot.View) bool {
	missing, unread := v.At.Lacking(v.DaemonSet.Provisioner, v.Nodes)
	return len(v.Nodes) > 0 && len(missing)+len(unread) == 0
}
