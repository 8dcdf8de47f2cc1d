// Package registration holds the rules on whether drivers are registered with
// their nodes, once each (REG).
package registration

import (
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
	{ID: "REG001", Needs: []inventory.Resource{inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods}, Driver: notRegistered, Cluster: unreached, At: rules.ExceptTarget},
	{ID: "REG002", Needs: rules.NeedsDrivers, Driver: byOperator, Cluster: doubleDriver},
	{ID: "REG003", Needs: rules.NeedsDrivers, Driver: oldRegistrar, Starts: true, At: rules.ExceptTarget},
	{ID: "REG004", Needs: rules.NeedsDrivers, Driver: notReady, Cluster: plannedNowhere, At: rules.ExceptTarget},
	{ID: "REG005", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: topology, At: rules.AtNow},
}

// notRegistered is REG001: a Windows node in a DaemonSet's reach whose CSINode
// doesn't list the driver. That a CSINode exists proves nothing: the kubelet
// makes one for every node, with no drivers.
func notRegistered(v *snapshot.View, report rules.Report) {
	d := v.DaemonSet
	if v.At.Phase == snapshot.Planned || d.Provisioner == "" || d.Line == "vsphere" && snapshot.BeforeVSphere(v.At.FromMinor()) {
		return // the last is INTREE004
	}
	missing, unread := v.At.Lacking(d.Provisioner, v.Nodes)
	used, unused := v.At.Using(d.Provisioner, true, missing)
	unregistered(v, used, finding.Block, report)
	unregistered(v, unused, finding.Warn, report)
	maybeRegistered(v, unread, report)
}

func unregistered(v *snapshot.View, nodes []*inventory.Node, sev finding.Severity, report rules.Report) {
	if len(nodes) == 0 {
		return
	}
	names := slices.Sorted(slices.Values(snapshot.NodeNames(nodes)))
	f := rules.Finding{Severity: sev}
	f.Observed = fmt.Sprintf("CSINode of %s doesn't list %s", rules.SomeOf(names), v.DaemonSet.Provisioner)
	if sev == finding.Block {
		f.Observed += ", and Windows pods there use its volumes"
	}
	f.Expected = "every Windows node that the DaemonSet runs on lists the driver in CSINode spec.drivers"
	f.Why = "a volume can't be attached or mounted on a node that the driver isn't registered on"
	f.Do, f.When = repair(v.DaemonSet, names[0]), rules.Before
	f.Evidence = rules.Cite(v.At.CSINodeFacts(nodes))
	report(f)
}

// repair says where to look when a driver isn't registered.
func repair(d *inventory.Driver, node string) []action.Action {
	look := [][]string{
		{"oc", "get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + node},
		{"oc", "get", "csinode", node, "-o", "jsonpath={.spec.drivers[*].name}"},
	}
	if ns := d.Object.Namespace; ns != "" {
		look = append(look, []string{"oc", "-n", ns, "logs", "daemonset/" + d.Object.Name, "--all-containers", "--tail=50"})
	}
	return []action.Action{action.ByHand{Object: d.Object.String(), Text: "repair the pod of " + d.Object.String() + " on each of these nodes until its CSINode lists the driver", Look: look}}
}

func maybeRegistered(v *snapshot.View, nodes []*inventory.Node, report rules.Report) {
	if len(nodes) == 0 {
		return
	}
	f := rules.Finding{Severity: finding.Unknown}
	f.Observed = fmt.Sprintf("the CSINodes of %s weren't read, so whether %s is registered there isn't known", rules.SomeOf(snapshot.NodeNames(nodes)), v.DaemonSet.Provisioner)
	f.Expected = "the CSINode of every Windows node that the DaemonSet runs on"
	f.Why = "only CSINode spec.drivers says whether a driver is registered on a node"
	f.Do, f.When = remedy.Gather("csinodes", "csinodes.yaml"), rules.Before
	f.Evidence = rules.Cite(v.At.CSINodeFacts(nodes))
	report(f)
}

// unreached reports Windows pods that use CSI volumes on nodes where no
// DaemonSet of the inventory would run the driver.
func unreached(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase == snapshot.Planned {
		uncovered(snap, report)
		return
	}
	byDriver := snapshot.Memo(snap, "uses by driver", func() [][]inventory.VolumeUse {
		uses := slices.DeleteFunc(slices.Clone(snap.Inventory.Volumes), func(u inventory.VolumeUse) bool {
			// A CSI driver's name has no slash; kubernetes.io/no-provisioner and
			// the like aren't CSI drivers.
			return u.InTree != "" || u.Provisioner == "" || u.Node == "" || strings.Contains(u.Provisioner, "/")
		})
		return snapshot.GroupBy(uses, func(u inventory.VolumeUse) string { return u.Provisioner })
	})
	for _, us := range byDriver {
		used, _ := snap.Using(us[0].Provisioner, true, snap.Nodes)
		missing, _ := snap.Lacking(us[0].Provisioner, used)
		missing = slices.DeleteFunc(missing, func(n *inventory.Node) bool { return snap.Serving(us[0].Provisioner, n) != nil })
		if len(missing) > 0 {
			report(noDaemonSet(snap, us, missing))
		}
	}
}

func noDaemonSet(snap *snapshot.Snapshot, us []inventory.VolumeUse, nodes []*inventory.Node) rules.Finding {
	f := rules.Finding{Severity: finding.Block, Object: us[0].Provisioner, When: rules.Before}
	f.Observed = fmt.Sprintf("Windows pods on %s use its volumes, no Windows DaemonSet of it runs there, and CSINode doesn't list it", rules.SomeOf(snapshot.NodeNames(nodes)))
	f.Expected = "a Windows node DaemonSet of the driver on each node that uses its volumes"
	f.Why = "a volume can't be attached or mounted on a node that the driver isn't registered on"
	if f.Do = remedy.Deploy(snap, snap.Catalog.ByProvisioner(us[0].Provisioner), snap.From, nodes); f.Do == nil {
		f.Remedy = "deploy the driver's Windows DaemonSet on these nodes, and wait until each lists it; where its project has none for Windows, move these pods to volumes of a driver that has"
	}
	of := snap.DaemonSetsOf(us[0].Provisioner)
	if i := slices.IndexFunc(of, func(d *inventory.Driver) bool { return untolerated(d, nodes) }); i >= 0 {
		f.Do, f.Remedy = remedy.Tolerate(of[i]), ""
	} else if have := slices.DeleteFunc(slices.Clone(of), snap.KnownUnmatched); len(have) > 0 {
		// A second one for all nodes would meet it.
		f.Do, f.Remedy = nil, fmt.Sprintf("let %s run on these nodes too, by its node selector, affinity and tolerations, or deploy another DaemonSet of the driver for these nodes alone; wait until each lists it", have[0].Object)
	}
	for _, d := range snap.DaemonSetsOf(us[0].Provisioner) {
		if do := remedy.SelectWindows(d); do != nil {
			f.Do, f.Remedy = do, ""
		}
	}
	at := snapshot.Map(us, func(u inventory.VolumeUse) inventory.Evidence { return u.At })
	f.Evidence = rules.Cite(slices.Concat(snap.CSINodeFacts(nodes), at))
	return f
}

// untolerated tells whether only taints keep a driver off these nodes.
func untolerated(d *inventory.Driver, nodes []*inventory.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return !d.Scheduling.Selects(*n) || d.Scheduling.Tolerates(*n) })
}

// notReady is REG004: pods of a Windows DaemonSet that aren't ready. A
// DaemonSet that no node matches is common and harmless.
func notReady(v *snapshot.View, report rules.Report) {
	r := v.DaemonSet.Rollout
	if v.At.Phase == snapshot.Planned || r == nil || r.Desired > 0 && r.Ready >= r.Desired {
		return
	}
	f := rules.Finding{
		Severity: finding.Warn, When: rules.Before, Evidence: rules.Cite(v.DaemonSet.Evidence),
		Observed: fmt.Sprintf("%d of %d pods are ready", r.Ready, r.Desired),
		Expected: "every pod is ready",
		Why:      "where the driver's pod isn't ready, volumes can't be mounted",
		Do:       []action.Action{action.WaitRollout{Object: v.DaemonSet.Object}},
	}
	if down := snapshot.NodeNames(snapshot.Select(v.Nodes, func(n *inventory.Node) bool { return !n.Ready })); len(down) > 0 && len(down) == int(r.Desired-r.Ready) {
		f.Observed += "; not ready themselves are " + rules.SomeOf(down)
		f.Do = []action.Action{action.ByHand{Text: "bring back " + rules.SomeOf(down) + ", or take them out of the cluster", Look: [][]string{slices.Concat([]string{"oc", "describe", "node"}, down)}}}
	}
	if r.Desired == 0 {
		f.Severity, f.Do = finding.Info, nil
		f.Observed = "no node matches it: 0 pods are wanted"
		f.Expected = "a Windows node that it runs on, if the driver is needed"
		f.Why = "many clusters carry such a DaemonSet; it does nothing until a Windows node matches"
	}
	report(f)
}

// uncovered is REG001 of what was planned: nodes that have the driver now, and
// won't when the planned manifest is written over the present one.
func uncovered(snap *snapshot.Snapshot, report rules.Report) {
	for _, d := range snap.Windows {
		used, unused := snap.Using(d.Provisioner, false, snap.UncoveredNodes(d))
		uncoveredNodes(snap, d, used, finding.Block, report)
		uncoveredNodes(snap, d, unused, finding.Warn, report)
	}
}

func uncoveredNodes(snap *snapshot.Snapshot, d *inventory.Driver, nodes []*inventory.Node, sev finding.Severity, report rules.Report) {
	if len(nodes) == 0 {
		return
	}
	p := snap.Replacements(d)[0]
	f := rules.Finding{Severity: sev, Object: d.Object.String(), Same: "planned", When: rules.Before}
	f.Observed = fmt.Sprintf("it runs %s on %s, and with the planned manifest in %s no DaemonSet does", d.Provisioner, rules.SomeOf(snapshot.NodeNames(nodes)), snapshot.PlannedFile(p))
	if sev == finding.Block {
		f.Observed += "; Windows pods there use its volumes"
	}
	f.Expected = "the driver on each node that has it now"
	f.Why = "a volume can't be attached or mounted on a node that the driver doesn't run on"
	f.Remedy = fmt.Sprintf("let %s in %s choose these nodes too, with the node selector, affinity and tolerations that the present one has, or plan another DaemonSet for them", p.Object, snapshot.PlannedFile(p))
	f.Evidence = rules.Cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], snapshot.NodeEvidence(nodes)))
	report(f)
}

// plannedNowhere is REG004 of what was planned: it would run on no node.
func plannedNowhere(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snap.PlannedWindows {
		if snap.Phase != snapshot.Planned || !snap.MatchesNoNode(p) {
			continue
		}
		f := rules.Finding{Severity: finding.Info, Object: p.Object.String(), Same: "planned", When: rules.Before}
		f.Observed = "none of the Windows nodes matches the planned manifest: it would have no pod"
		f.Expected = "a Windows node that it runs on"
		f.Why = "where it is for nodes that are still to come, nothing is wrong"
		f.Evidence = rules.Cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], snapshot.NodeEvidence(snap.Nodes)))
		if of := snap.Replaced()[p]; len(of) > 0 {
			f.Severity = finding.Warn
			f.Why = of[0].Object.String() + " runs the driver on these nodes, and it can't take that one's place"
			f.Remedy = fmt.Sprintf("give it in %s the node selector, affinity and tolerations that %s has: the nodes' labels must be selected, and their taints tolerated", snapshot.PlannedFile(p), of[0].Object)
		}
		report(f)
	}
}
