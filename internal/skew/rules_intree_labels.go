package skew

import (
	"fmt"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// Labels of WMCO 8 and 9, which hold a node's update while volumes are
// attached: release-4.14 of openshift/windows-machine-config-operator,
// controllers/controllers.go.
const (
	allowUpgrade   = "windowsmachineconfig.openshift.io/allow-upgrade"
	upgradeBlocked = "windowsmachineconfig.openshift.io/upgrade-blocked"
)

const wmcoGate = "https://github.com/openshift/windows-machine-config-operator/blob/release-4.14/controllers/controllers.go"

// upgradeLabels is INTREE003: nodes that WMCO holds, or may update at once.
func upgradeLabels(w *world) []draft {
	if w.Phase != Now {
		return nil
	}
	var held, allowed []*inventory.Node
	for _, n := range w.windowsNodes() {
		_, blocked := n.Labels[upgradeBlocked]
		switch {
		case n.Labels[allowUpgrade] == "true":
			allowed = append(allowed, n)
		case blocked:
			held = append(held, n)
		}
	}
	var said []draft
	if len(held) > 0 {
		said = append(said, w.held(held))
	}
	if len(allowed) > 0 {
		said = append(said, w.allowed(allowed))
	}
	return said
}

func (w *world) held(nodes []*inventory.Node) draft {
	if w.gateGone() {
		return w.leftLabels(nodes, upgradeBlocked)
	}
	f := draft{Severity: finding.Warn, Object: "held Windows nodes"}
	f.Observed = fmt.Sprintf("%s on %s", upgradeBlocked, someOf(nodeNames(nodes)))
	f.Expected = "no node is held"
	f.Why = "WMCO 8 and 9 don't update a node while volumes are attached to it, until it is told that it may"
	f.Do = []action.Action{action.ByHand{
		Text: "see the driver in the node's CSINode, then release one node (" + allowUpgrade + "=true) and see its pods run before the next",
		Look: [][]string{{"oc", "get", "csinode", nodes[0].Name, "-o", "jsonpath={.spec.drivers[*].name}"}},
	}}
	f.When = during
	f.Evidence = cite(labelFacts(nodes, upgradeBlocked))
	return f
}

func (w *world) allowed(nodes []*inventory.Node) draft {
	if w.gateGone() {
		return w.leftLabels(nodes, allowUpgrade)
	}
	f := draft{Severity: finding.Info, Object: "released Windows nodes"}
	names := nodeNames(nodes)
	f.Observed = fmt.Sprintf("%s=true on %s", allowUpgrade, someOf(names))
	f.Expected = "the label on the one node that is being updated"
	f.Why = "WMCO updates a node with this label although volumes are attached to it"
	if len(nodes) > 1 && len(nodes) == len(w.windowsNodes()) {
		f.Severity = finding.Warn
		f.Why += "; with it on all Windows nodes, a driver that doesn't work is found out on all of them"
	}
	f.Do = []action.Action{action.UnlabelNodes{Nodes: names, Key: allowUpgrade, Value: "true"}}
	f.When = after
	if f.Severity == finding.Warn {
		f.When = before
	}
	f.Evidence = cite(labelFacts(nodes, allowUpgrade))
	return f
}

// gateGone tells whether the cluster's release is past 4.14, the last whose
// WMCO looks at these labels.
func (w *world) gateGone() bool {
	o, err := version.ParseOpenShift(w.from())
	return err == nil && o.CompareMinor(version.OpenShift{Major: 4, Minor: 14}) > 0
}

// leftLabels speaks of labels that nobody looks at any more.
func (w *world) leftLabels(nodes []*inventory.Node, key string) draft {
	f := draft{Severity: finding.Info, Object: "labels of an older WMCO"}
	f.Observed = fmt.Sprintf("%s on %s", key, someOf(nodeNames(nodes)))
	f.Expected = "no such label"
	f.Why = "WMCO 8 and 9 looked at it; that of OpenShift " + w.from() + " doesn't"
	f.Do, f.When = []action.Action{action.UnlabelNodes{Nodes: nodeNames(nodes), Key: key, Value: nodes[0].Labels[key]}}, after
	f.Evidence = cite(labelFacts(nodes, key))
	return f
}

func labelFacts(nodes []*inventory.Node, key string) []inventory.Evidence {
	var at []inventory.Evidence
	for _, n := range nodes {
		at = append(at, inventory.Evidence{Where: n.At.Where, Text: key + ": " + n.Labels[key]})
	}
	return at
}

// firstVSphere is the first release whose vSphere operator switches the
// driver's csi-windows-support on; versions 3.0 to 3.4 refuse Windows without.
const firstVSphere = "4.14"

const vsphereFeatures = "https://github.com/openshift/vmware-vsphere-csi-driver-operator/blob/release-4.14/assets/vsphere_features_config.yaml"

func beforeVSphere(minor string) bool {
	o, err := version.ParseOpenShift(minor)
	return err == nil && o.CompareMinor(version.OpenShift{Major: 4, Minor: 14}) < 0
}

// featureOff tells whether use needs vSphere's driver and the cluster's
// release doesn't let it serve Windows.
func (w *world) featureOff(use inTreeUse) bool {
	d := w.cat.ByInTree(use.plugin)
	return d != nil && d.Name == "vsphere" && beforeVSphere(w.from())
}

// earlyVSphere is INTREE004: vSphere's Windows driver on a release that doesn't
// let it serve Windows. On the way to one that does, it only waits.
func earlyVSphere(w *world) []draft {
	minor := w.from()
	if w.Phase == Planned {
		minor = w.to()
	}
	if w.Phase == Target || !beforeVSphere(minor) {
		return nil
	}
	var said []draft
	for _, d := range w.windows() {
		if d.Line != "vsphere" || w.registeredEverywhere(d) {
			continue
		}
		f := draft{Severity: finding.Block, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("vSphere's Windows driver on OpenShift %s", minor)
		f.Expected = "OpenShift " + firstVSphere + " or newer"
		f.Why = "the driver serves Windows only where the feature csi-windows-support is on, which OpenShift does from " + firstVSphere
		if w.reaches(version.OpenShift{Major: 4, Minor: 14}) {
			f.Severity = finding.Warn
			f.Why += "; it can be there before, and registers once the control plane is"
		}
		f.Remedy = "leave it: it registers once the control plane is at " + firstVSphere
		if f.Severity == finding.Block {
			f.Remedy = ""
			f.Do = []action.Action{action.DeleteDaemonSet{Object: d.Object, Why: "it serves no volume before the control plane is at " + firstVSphere + "; keep in-tree volumes until then"}}
		}
		f.When, f.NoStep = before, f.Severity == finding.Warn
		f.Evidence = cite(d.Evidence[:min(2, len(d.Evidence))])
		said = append(said, f)
	}
	return said
}

// registeredEverywhere tells whether d runs somewhere and each of these nodes
// lists it: then somebody switched the feature on.
func (w *world) registeredEverywhere(d *inventory.Driver) bool {
	missing, unread := w.without(d.Provisioner, w.Scope(d))
	return len(w.Scope(d)) > 0 && len(missing)+len(unread) == 0
}
