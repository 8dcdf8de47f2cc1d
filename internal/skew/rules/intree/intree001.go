package intree

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// featureOff tells whether use needs vSphere's driver and the cluster's
// release doesn't let it serve Windows.
func featureOff(snap *snapshot.Snapshot, use snapshot.InTreeUse) bool {
	d := snap.Catalog.ByInTree(use.Plugin)
	return d != nil && d.Name == "vsphere" && snapshot.BeforeVSphere(snap.FromMinor())
}

// AFTER003 makes its findings too, as intree.Rules[0].
var intree001 = rules.Rule{ID: "INTREE001", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: inTreeGate, Asks: rules.OfHops}

// inTreeGate is INTREE001: Windows pods use in-tree volumes that the target
// serves by CSI, and nodes whose CSINode lacks the driver.
func inTreeGate(snap *snapshot.Snapshot, report rules.Report) {
	for _, use := range snap.InTreeUses() {
		on, known := snap.OnCSI(use.Plugin, snap.ToMinor())
		already, _ := snap.OnCSI(use.Plugin, snap.FromMinor())
		switch {
		case snap.Phase == snapshot.Now && already && !snap.NotMigrated(use):
			CheckNodes(snap, use, report)
		case snap.Phase == snapshot.Now, already:
			// it is a matter of the hop; or the hop that brought it said so, or Now
		case !known && use.Idle:
		case !known:
			report(inUse(use, "unknown migration", nil))
		case on && !snap.NotMigrated(use):
			CheckNodes(snap, use, report)
		}
	}
	if snap.Hop == 0 && snap.Phase == snapshot.Target {
		UnknownVolumes(snap, report)
	}
}

// CheckNodes holds use against the CSINodes: of a hop, or after all of them.
func CheckNodes(snap *snapshot.Snapshot, use snapshot.InTreeUse, report rules.Report) {
	if use.Idle {
		if missing, _ := snap.Lacking(use.Provisioner, snap.Nodes); len(missing) > 0 {
			f := mayMove(snap, use, missing)
			f.Case = "scaled to 0"
			report(f)
		}
		return
	}
	used, others := nodes(use, snap.Nodes)
	missing, unread := snap.Lacking(use.Provisioner, used)
	idle, _ := snap.Lacking(use.Provisioner, others)
	if len(missing) > 0 {
		report(unmigrated(snap, use, missing))
	}
	if len(idle) > 0 {
		report(mayMove(snap, use, idle))
	}
	// Of nodes that weren't read only their pods speak.
	lost := unreadNodes(snap, use)
	if len(unread) > 0 || len(snap.Nodes) == 0 && len(lost) == 0 {
		f := inUse(use, "CSINodes unread", snapshot.NodeNames(unread))
		f.Do = remedy.Gather("nodes,csinodes", "nodes.yaml")
		report(f)
	}
	if len(lost) > 0 {
		f := inUse(use, "nodes unread", lost)
		f.Do = remedy.Gather("nodes,csinodes", "nodes.yaml")
		report(f)
	}
}

// unreadNodes are nodes on which Windows pods use such volumes and that weren't
// read, sorted.
func unreadNodes(snap *snapshot.Snapshot, u snapshot.InTreeUse) []string {
	read := snapshot.NodeNames(snap.Nodes)
	on := snapshot.Unique(snapshot.Map(u.Uses, func(use inventory.VolumeUse) string { return use.Node }))
	return slices.Sorted(slices.Values(snapshot.Select(on, func(n string) bool { return n != "" && !slices.Contains(read, n) })))
}

func unmigrated(snap *snapshot.Snapshot, use snapshot.InTreeUse, nodes []*inventory.Node) rules.Finding {
	f := inUse(use, "not registered", snapshot.NodeNames(nodes))
	f.Do, f.When = bringDriver(snap, use, nodes)
	f.Evidence = rules.Cite(slices.Concat(snap.CSINodeEvidence(nodes), evidence(use)))
	if snap.Hops > 0 && waitsForControlPlane(snap, use, nodes) {
		f.Case = "not registered, waits"
	}
	return f
}

// bringDriver is what the enhancement asks for: csi-proxy and driver first, see the
// driver in CSINode, then one node at a time.
func bringDriver(snap *snapshot.Snapshot, use snapshot.InTreeUse, nodes []*inventory.Node) (do []action.Action, when string) {
	names, release, when := slices.Sorted(slices.Values(snapshot.NodeNames(nodes))), snap.From, rules.Before
	if featureOff(snap, use) {
		release, when = snap.To, rules.During // the driver refuses Windows before
	}
	look := [][]string{{"oc", "get", "csinodes", "-o", "custom-columns=NODE:.metadata.name,DRIVERS:.spec.drivers[*].name"}}
	hand := action.ByHand{Object: use.Plugin, Look: look}
	switch d := snap.Serving(use.Provisioner, nodes[0]); {
	case waitsForControlPlane(snap, use, nodes):
		hand.Text = fmt.Sprintf("leave the DaemonSet of %s; before any Windows node is updated wait until each node lists the driver", use.Provisioner)
	case d != nil && allServed(snap, use.Provisioner, nodes):
		hand.Text = fmt.Sprintf("repair the pods of %s on %s (csi-proxy must run there), and wait until each node lists %s", d.Object, rules.SomeOf(names), use.Provisioner)
		hand.Look = append([][]string{{"oc", "get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + names[0]}}, look...)
	case slices.ContainsFunc(snap.WindowsDaemonSets(), func(d *inventory.Driver) bool { return d.Provisioner == use.Provisioner }):
		hand.Text = fmt.Sprintf("let the Windows DaemonSet of %s run on all Windows nodes (csi-proxy must run there), and wait until each of them lists it", use.Provisioner)
	default:
		if do := remedy.Deploy(snap, snap.Catalog.ByProvisioner(use.Provisioner), release, snap.Nodes); do != nil {
			return do, when
		}
		hand.Text = fmt.Sprintf("deploy the Windows DaemonSet of %s on all Windows nodes (csi-proxy must run there), and wait until each of them lists it", use.Provisioner)
	}
	return []action.Action{hand}, when
}

func allServed(snap *snapshot.Snapshot, provisioner string, nodes []*inventory.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return snap.Serving(provisioner, n) == nil })
}

// waitsForControlPlane tells whether all that can be done before the update
// was done: the DaemonSet covers the nodes and only the control plane lacks.
func waitsForControlPlane(snap *snapshot.Snapshot, use snapshot.InTreeUse, nodes []*inventory.Node) bool {
	return featureOff(snap, use) && allServed(snap, use.Provisioner, nodes)
}

func mayMove(snap *snapshot.Snapshot, use snapshot.InTreeUse, nodes []*inventory.Node) rules.Finding {
	f := inUse(use, "may move", snapshot.NodeNames(nodes))
	f.Do, f.When = bringDriver(snap, use, nodes)
	f.Evidence = rules.Cite(snap.CSINodeEvidence(nodes))
	return f
}

// UnknownVolumes are volumes whose driver couldn't be told; they may be in-tree.
func UnknownVolumes(snap *snapshot.Snapshot, report rules.Report) {
	uses := slices.DeleteFunc(slices.Clone(snap.Inventory.Volumes), func(u inventory.VolumeUse) bool {
		return u.Provisioner != "" || u.InTree != "" || u.Reason == ""
	})
	for _, us := range snapshot.GroupBy(uses, func(u inventory.VolumeUse) string { return u.Reason }) {
		f := inUse(snapshot.InTreeUse{Uses: us}, "unknown volumes", nil)
		f.Facts["reason"], f.Same = us[0].Reason, us[0].Reason
		f.Do = remedy.Gather("pv,pvc", "volumes.yaml")
		report(f)
	}
}
