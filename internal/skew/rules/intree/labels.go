package intree

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
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
	switch gone := gateGone(snap); {
	case len(held) == 0:
	case gone:
		report(leftLabels(snap, held, upgradeBlocked))
	default:
		report(heldNodes(held))
	}
	switch gone := gateGone(snap); {
	case len(released) == 0:
	case gone:
		report(leftLabels(snap, released, allowUpgrade))
	default:
		report(releasedNodes(snap, released))
	}
}

func heldNodes(nodes []*inventory.Node) rules.Finding {
	f := rules.Finding{Severity: finding.Warn, Object: "held Windows nodes"}
	f.Observed = fmt.Sprintf("%s on %s", upgradeBlocked, rules.SomeOf(snapshot.NodeNames(nodes)))
	f.Expected = "no node is held"
	f.Why = "WMCO 8 and 9 don't update a node while volumes are attached to it, until it is told that it may"
	f.Do = []action.Action{action.ByHand{
		Text: "see the driver in the node's CSINode, then release one node (" + allowUpgrade + "=true) and see its pods run before the next",
		Look: [][]string{{"oc", "get", "csinode", nodes[0].Name, "-o", "jsonpath={.spec.drivers[*].name}"}},
	}}
	f.When = rules.During
	f.Evidence = rules.Cite(labelFacts(nodes, upgradeBlocked))
	return f
}

func releasedNodes(snap *snapshot.Snapshot, nodes []*inventory.Node) rules.Finding {
	f := rules.Finding{Severity: finding.Info, Object: "released Windows nodes"}
	names := slices.Sorted(slices.Values(snapshot.NodeNames(nodes)))
	f.Observed = fmt.Sprintf("%s=true on %s", allowUpgrade, rules.SomeOf(names))
	f.Expected = "the label on the one node that is being updated"
	f.Why = "WMCO updates a node with this label although volumes are attached to it"
	if len(nodes) > 1 && len(nodes) == len(snap.Nodes) {
		f.Severity = finding.Warn
		f.Why += "; with it on all Windows nodes, a driver that doesn't work is found out on all of them"
	}
	f.Do = []action.Action{action.UnlabelNodes{Nodes: names, Key: allowUpgrade, Value: "true"}}
	f.When = rules.After
	if f.Severity == finding.Warn {
		f.When = rules.Before
	}
	f.Evidence = rules.Cite(labelFacts(nodes, allowUpgrade))
	return f
}

// gateGone tells whether the cluster's release is past 4.14, the last whose
// WMCO looks at these labels.
func gateGone(snap *snapshot.Snapshot) bool {
	o, err := version.ParseOpenShift(snap.FromMinor())
	return err == nil && o.CompareMinor(version.OpenShift{Major: 4, Minor: 14}) > 0
}

// leftLabels reports labels that nothing looks at any more.
func leftLabels(snap *snapshot.Snapshot, nodes []*inventory.Node, key string) rules.Finding {
	f := rules.Finding{Severity: finding.Info, Object: "labels of an older WMCO"}
	f.Observed = fmt.Sprintf("%s on %s", key, rules.SomeOf(snapshot.NodeNames(nodes)))
	f.Expected = "no such label"
	f.Why = "WMCO 8 and 9 looked at it; that of OpenShift " + snap.FromMinor() + " doesn't"
	f.Do, f.When = []action.Action{action.UnlabelNodes{Nodes: slices.Sorted(slices.Values(snapshot.NodeNames(nodes))), Key: key, Value: nodes[0].Labels[key]}}, rules.After
	f.Evidence = rules.Cite(labelFacts(nodes, key))
	return f
}

func labelFacts(nodes []*inventory.Node, key string) []inventory.Evidence {
	return snapshot.Map(nodes, func(n *inventory.Node) inventory.Evidence {
		return inventory.Evidence{Where: n.At.Where, Text: key + ": " + n.Labels[key]}
	})
}

// featureOff tells whether use needs vSphere's driver and the cluster's
// release doesn't let it serve Windows.
func featureOff(snap *snapshot.Snapshot, use snapshot.InTreeUse) bool {
	d := snap.Catalog.ByInTree(use.Plugin)
	return d != nil && d.Name == "vsphere" && snapshot.BeforeVSphere(snap.FromMinor())
}

// earlyVSphere is INTREE004: vSphere's Windows driver on a release that doesn't
// let it serve Windows. On the way to one that does, it only waits.
func earlyVSphere(snap *snapshot.Snapshot, report rules.Report) {
	minor := snap.FromMinor()
	if snap.Phase == snapshot.Planned {
		minor = snap.ToMinor()
	}
	if !snapshot.BeforeVSphere(minor) {
		return
	}
	for _, d := range snap.WindowsDaemonSets() {
		if d.Line != "vsphere" || registeredEverywhere(snap, d) {
			continue
		}
		f := rules.Finding{Severity: finding.Block, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("vSphere's Windows driver on OpenShift %s", minor)
		f.Expected = "OpenShift " + snapshot.FirstVSphere + " or newer"
		f.Why = "the driver serves Windows only where the feature csi-windows-support is on, which OpenShift does from " + snapshot.FirstVSphere
		if snap.Reaches(version.OpenShift{Major: 4, Minor: 14}) {
			f.Severity = finding.Warn
			f.Why += "; it can be there before, and registers once the control plane is"
		}
		f.Remedy = "leave it: it registers once the control plane is at " + snapshot.FirstVSphere
		if f.Severity == finding.Block {
			f.Remedy = ""
			f.Do = []action.Action{action.DeleteDaemonSet{Object: d.Object, Why: "it serves no volume before the control plane is at " + snapshot.FirstVSphere + "; keep in-tree volumes until then"}}
		}
		f.When, f.NoStep = rules.Before, f.Severity == finding.Warn
		f.Evidence = rules.Cite(d.Evidence[:min(2, len(d.Evidence))])
		report(f)
	}
}

// registeredEverywhere tells whether d runs somewhere and each of these nodes
// lists it: then somebody switched the feature on.
func registeredEverywhere(snap *snapshot.Snapshot, d *inventory.Driver) bool {
	missing, unread := snap.Lacking(d.Provisioner, snap.Scope(d))
	return len(snap.Scope(d)) > 0 && len(missing)+len(unread) == 0
}
