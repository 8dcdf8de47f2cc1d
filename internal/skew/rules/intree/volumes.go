// Package intree holds the rules on in-tree volumes that block an update
// (INTREE, and AFTER003).
package intree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "INTREE001", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: inTreeGate, Asks: rules.OfHops, At: rules.ExceptPlan},
	{ID: "INTREE002", Needs: []inventory.Resource{inventory.Pods}, Cluster: neverMigrated, Asks: rules.OfHops, At: rules.AtTarget},
	{ID: "INTREE003", Needs: rules.NeedsNodes, Cluster: upgradeLabels, At: rules.AtNow},
	{ID: "INTREE004", Needs: rules.NeedsDrivers, Driver: earlyVSphere, At: rules.ExceptTarget},
}

// nodes parts the Windows nodes: those where such a volume is, or where a
// pending pod may bring one, and the others, that a drained pod may move to.
func nodes(u snapshot.InTreeUse, all []*inventory.Node) (used, others []*inventory.Node) {
	on := map[string]bool{}
	for _, use := range u.Uses {
		on[use.Node] = true
	}
	return snapshot.Part(all, func(n *inventory.Node) bool { return on[""] || on[n.Name] })
}

// volumes names pods and what they use.
func volumes(u snapshot.InTreeUse) string {
	var names []string
	for _, use := range u.Uses {
		what := "inline volume " + use.Volume
		switch {
		case use.Claim != "":
			what = "claim " + use.Claim
		case use.PV != "":
			what = "volume " + use.PV
		}
		names = append(names, fmt.Sprintf("%s/%s (%s)", use.Pod.Namespace, use.Pod.Name, what))
	}
	return rules.SomeOf(names)
}

func facts(u snapshot.InTreeUse) []inventory.Evidence {
	return snapshot.Map(u.Uses, func(use inventory.VolumeUse) inventory.Evidence { return use.At })
}

// inUse is a finding of volumes that are in use.
func inUse(u snapshot.InTreeUse, severity finding.Severity) rules.Finding {
	return rules.Finding{Severity: severity, Object: u.Plugin, Observed: "Windows pods use its volumes: " + volumes(u), When: rules.Before, Evidence: rules.Cite(facts(u))}
}

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
		case !known:
			report(unknownMigration(snap, use))
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
	used, others := nodes(use, snap.Nodes)
	missing, unread := snap.Lacking(use.Provisioner, used)
	idle, _ := snap.Lacking(use.Provisioner, others)
	if len(missing) > 0 {
		report(unmigrated(snap, use, missing))
	}
	if len(idle) > 0 {
		report(mayMove(snap, use, idle))
	}
	lost := unreadNodes(snap, use)
	if len(unread) > 0 || len(snap.Nodes) == 0 && len(lost) == 0 {
		report(unreadGate(use, snapshot.NodeNames(unread), false))
	}
	if len(lost) > 0 {
		report(unreadGate(use, lost, true))
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
	f := inUse(use, finding.Block)
	f.Observed += fmt.Sprintf("; CSINode of %s doesn't list %s", rules.SomeOf(snapshot.NodeNames(nodes)), use.Provisioner)
	f.Expected = use.Provisioner + " in CSINode spec.drivers of every Windows node that uses these volumes"
	f.Why = fmt.Sprintf("OpenShift %s serves these volumes by %s on Windows nodes: a node without it can't mount them once its kubelet is updated", snap.ToMinor(), use.Provisioner)
	if snap.Phase == snapshot.Now {
		f.Why = fmt.Sprintf("OpenShift %s serves these volumes by %s on Windows nodes already: a node without it can't mount them", snap.FromMinor(), use.Provisioner)
	}
	if use.Plugin == "kubernetes.io/azure-file" {
		f.Why += ". Volumes of Azure File are never attached, so WMCO 9's own gate doesn't see them"
	}
	f.Do, f.When = bringDriver(snap, use, nodes)
	f.Evidence = rules.Cite(slices.Concat(snap.CSINodeFacts(nodes), facts(use)))
	if snap.Hops > 0 && waitsForControlPlane(snap, use, nodes) {
		f.Severity = finding.Warn
		f.Observed += "; its Windows DaemonSet is there and covers them"
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

// allServed tells whether Windows DaemonSets of a provisioner cover all nodes.
func allServed(snap *snapshot.Snapshot, provisioner string, nodes []*inventory.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return snap.Serving(provisioner, n) == nil })
}

// waitsForControlPlane tells whether all that can be done before the update
// was done: the DaemonSet covers the nodes and only the control plane lacks.
func waitsForControlPlane(snap *snapshot.Snapshot, use snapshot.InTreeUse, nodes []*inventory.Node) bool {
	return featureOff(snap, use) && allServed(snap, use.Provisioner, nodes)
}

func mayMove(snap *snapshot.Snapshot, use snapshot.InTreeUse, nodes []*inventory.Node) rules.Finding {
	f := rules.Finding{Severity: finding.Warn, Object: use.Plugin}
	f.Observed = fmt.Sprintf("CSINode of %s doesn't list %s; no Windows pod uses its volumes there now", rules.SomeOf(snapshot.NodeNames(nodes)), use.Provisioner)
	f.Expected, f.Same = use.Provisioner+" on every Windows node that such a pod may move to", "move"
	f.Why = "while a node is updated its pods move; on a node without the driver they don't start"
	f.Do, f.When = bringDriver(snap, use, nodes)
	f.Evidence = rules.Cite(snap.CSINodeFacts(nodes))
	return f
}

// unreadGate is of nodes whose CSINode wasn't read. lost: only their pods speak of them.
func unreadGate(use snapshot.InTreeUse, nodes []string, lost bool) rules.Finding {
	f := inUse(use, finding.Unknown)
	f.Do = remedy.Gather("nodes,csinodes", "nodes.yaml")
	if lost {
		f.Observed += fmt.Sprintf("; the Nodes of %s weren't read", rules.SomeOf(nodes))
		f.Expected = "the Node and the CSINode of every Windows node"
		f.Why = "a node that wasn't read isn't held against its CSINode, and only that says whether it has " + use.Provisioner
		return f
	}
	f.Observed += fmt.Sprintf("; the CSINodes of %s weren't read", cmp.Or(rules.SomeOf(nodes), "the Windows nodes"))
	f.Expected = "the CSINode of every Windows node"
	f.Why = "only CSINode spec.drivers says whether a node has " + use.Provisioner
	return f
}

func unknownMigration(snap *snapshot.Snapshot, use snapshot.InTreeUse) rules.Finding {
	f := inUse(use, finding.Unknown)
	f.Observed += fmt.Sprintf("; what OpenShift %s does with them isn't in the catalog", snap.ToMinor())
	f.Expected = "a plugin and a release that the catalog knows"
	f.Why = "a release that removed the in-tree code can't mount these volumes without a CSI driver"
	f.Remedy = "move these pods to CSI volumes, or look the plugin up in the release notes and add a row: --catalog FILE (migration)"
	return f
}

// UnknownVolumes are volumes whose driver couldn't be told; they may be in-tree.
func UnknownVolumes(snap *snapshot.Snapshot, report rules.Report) {
	uses := slices.DeleteFunc(slices.Clone(snap.Inventory.Volumes), func(u inventory.VolumeUse) bool {
		return u.Provisioner != "" || u.InTree != "" || u.Reason == ""
	})
	for _, us := range snapshot.GroupBy(uses, func(u inventory.VolumeUse) string { return u.Reason }) {
		use := snapshot.InTreeUse{Uses: us}
		f := inUse(use, finding.Unknown)
		f.Object, f.Observed = "volumes of Windows pods", fmt.Sprintf("what serves them couldn't be told: %s; %s", volumes(use), us[0].Reason)
		f.Expected, f.Same = "the claims and volumes of every Windows pod", us[0].Reason
		f.Why = "an in-tree volume among them may stop working on the way"
		f.Do = remedy.Gather("pv,pvc", "volumes.yaml")
		report(f)
	}
}

// neverMigrated is INTREE002: in-tree volumes on a platform where nothing
// moves them from before 4.12.
func neverMigrated(snap *snapshot.Snapshot, report rules.Report) {
	for _, use := range snap.InTreeUses() {
		if on, _ := snap.OnCSI(use.Plugin, snap.ToMinor()); !on || !snap.NotMigrated(use) {
			continue
		}
		f := inUse(use, finding.Block)
		f.Expected = "no in-tree volume in use by Windows pods before the update to " + snap.ToMinor()
		f.Why = fmt.Sprintf("OpenShift %s serves them by CSI, and on %s nobody moves in-tree volumes of Windows nodes", snap.ToMinor(), strings.Join(snapshot.NeverMigrated, " and "))
		f.Remedy = fmt.Sprintf("copy the data away, delete these pods and their claims, and make them again on a cluster that uses %s (OpenShift 4.12 or newer)", use.Provisioner)
		report(f)
	}
}
