package registration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg001 = rules.Rule{ID: "REG001", Needs: []inventory.Resource{inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods}, Driver: notRegistered, Cluster: unreached, At: rules.AtNow}

// notRegistered is REG001: a Windows node in a DaemonSet's reach whose CSINode
// doesn't list the driver. That a CSINode exists proves nothing: the kubelet
// makes one for every node, with no drivers.
func notRegistered(v *snapshot.View, report rules.Report) {
	d := v.DaemonSet
	if d.Provisioner == "" || d.Line == "vsphere" && snapshot.BeforeVSphere(v.At.FromMinor()) {
		return // the last is INTREE004
	}
	missing, unread := v.At.Lacking(d.Provisioner, v.Nodes)
	used, unused := v.At.Using(d.Provisioner, true, missing)
	unregistered(v, used, "not registered, in use", report)
	unregistered(v, unused, "not registered", report)
	if len(unread) > 0 {
		report(rules.Finding{Case: "unread", Facts: rules.Facts{"nodes": unread}, Do: remedy.Gather("csinodes", "csinodes.yaml"), Evidence: rules.Cite(v.At.CSINodeEvidence(unread))})
	}
}

func unregistered(v *snapshot.View, nodes []*inventory.Node, name string, report rules.Report) {
	if len(nodes) > 0 {
		first := slices.Min(snapshot.NodeNames(nodes))
		report(rules.Finding{Case: name, Facts: rules.Facts{"nodes": nodes}, Do: repair(v, first, "until its CSINode lists the driver"), Evidence: rules.Cite(v.At.CSINodeEvidence(nodes))})
	}
}

func repair(v *snapshot.View, node, until string) []action.Action {
	d := v.DaemonSet
	ns := d.Object.Namespace
	pods := []string{"oc", "get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + node}
	if ns != "" && d.Selector != "" {
		// Those that are on no node yet, too.
		pods = []string{"oc", "-n", ns, "get", "pods", "-o", "wide", "-l", d.Selector}
	}
	look := [][]string{pods, {"oc", "get", "csinode/" + node, "-o", "jsonpath={.spec.drivers[*].name}"}}
	if ns != "" {
		look = append(look, []string{"oc", "-n", ns, "logs", "daemonset/" + d.Object.Name, "--all-containers", "--tail=50"})
	}
	text := "repair the pod of " + d.Object.String() + " on each of these nodes " + until
	if gone := remedy.RunsGone(v); gone != "" {
		text += "; " + gone
	}
	return []action.Action{action.ByHand{Object: d.Object.String(), Text: text, Look: look}}
}

// unreached reports Windows pods that use CSI volumes on nodes where no
// DaemonSet of the inventory would run the driver, and pods that no node was found
// for yet where that is each Windows node.
func unreached(snap *snapshot.Snapshot, report rules.Report) {
	byDriver := snapshot.Memo(snap, "uses by driver", func() [][]inventory.VolumeUse {
		uses := slices.DeleteFunc(slices.Clone(snap.Inventory.Volumes), func(u inventory.VolumeUse) bool {
			// A CSI driver's name has no slash; kubernetes.io/no-provisioner and
			// the like aren't CSI drivers.
			return u.InTree != "" || u.Provisioner == "" || strings.Contains(u.Provisioner, "/")
		})
		return snapshot.GroupBy(uses, func(u inventory.VolumeUse) string { return u.Provisioner })
	})
	for _, us := range byDriver {
		bare, _ := snap.Lacking(us[0].Provisioner, snap.Nodes)
		bare = slices.DeleteFunc(bare, func(n *inventory.Node) bool { return snap.Serving(us[0].Provisioner, n) != nil })
		waiting := snapshot.Select(us, func(u inventory.VolumeUse) bool { return u.Node == "" })
		if used, _ := snap.Using(us[0].Provisioner, true, bare); len(used) > 0 {
			report(noDaemonSet(snap, us, used))
		} else if len(waiting) > 0 && len(bare) > 0 && len(bare) == len(snap.Nodes) {
			f := noDaemonSet(snap, waiting, bare)
			f.Case, f.Facts["pods"] = "no DaemonSet, waiting", snapshot.Map(waiting, func(u inventory.VolumeUse) string { return u.Pod.String() })
			report(f)
		}
	}
}

func noDaemonSet(snap *snapshot.Snapshot, us []inventory.VolumeUse, nodes []*inventory.Node) rules.Finding {
	f := rules.Finding{Case: "no DaemonSet", Facts: rules.Facts{"nodes": nodes}, Object: us[0].Provisioner}
	if f.Do = remedy.Deploy(snap, snap.Catalog.ByProvisioner(us[0].Provisioner), snap.From, nodes); f.Do == nil {
		f.Remedy = "deploy the driver's Windows DaemonSet on these nodes, and wait until each lists it; where its project has none for Windows, move these pods to volumes of a driver that has"
	}
	of := snap.DaemonSetsOf(us[0].Provisioner)
	if i := slices.IndexFunc(of, func(d *inventory.Driver) bool { return untolerated(d, nodes) }); i >= 0 {
		f.Do, f.Remedy = remedy.Tolerate(of[i]), ""
	} else if have := snapshot.Select(of, func(d *inventory.Driver) bool { return !snap.KnownUnmatched(d) || deploys(f.Do, d.Object) }); len(have) > 0 {
		// A second one for all nodes would meet it, and one of its name be written over it.
		f.Do, f.Remedy = nil, fmt.Sprintf("let %s run on these nodes too, by its node selector, affinity and tolerations, or deploy another DaemonSet of the driver for these nodes alone; wait until each lists it", have[0].Object)
	}
	for _, d := range of {
		do := remedy.SelectWindows(d)
		if do == nil && f.Do == nil && snap.KnownUnmatched(d) {
			do = remedy.SelectNodes(d, nodes)
		}
		if do != nil {
			f.Do, f.Remedy = do, ""
		}
	}
	at := snapshot.Map(us, func(u inventory.VolumeUse) inventory.Evidence { return u.At })
	f.Evidence = rules.Cite(slices.Concat(snap.CSINodeEvidence(nodes), at))
	return f
}

func deploys(list []action.Action, o inventory.Object) bool {
	return slices.ContainsFunc(list, func(a action.Action) bool { d, ok := a.(action.DeployDriver); return ok && d.Becomes.Object == o })
}

func untolerated(d *inventory.Driver, nodes []*inventory.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return !d.Scheduling.Selects(*n) || d.Scheduling.Tolerates(*n) })
}
