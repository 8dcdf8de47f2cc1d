package skew

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// Where the rules on registration have their grounds.
const (
	nodeInfoManager  = "https://github.com/kubernetes/kubernetes/blob/v1.34.1/pkg/volume/csi/nodeinfomanager/nodeinfomanager.go"
	validateVersions = "https://github.com/kubernetes/kubernetes/blob/v1.34.1/pkg/volume/csi/csi_plugin.go"
	managedWindows   = "https://github.com/openshift/enhancements/pull/2072"
	csiWindows       = "https://github.com/kubernetes-csi/docs/blob/master/book/src/csi-windows.md"
	daemonSetDocs    = "https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/"
)

// notRegistered is REG001: a Windows node in a DaemonSet's reach whose CSINode
// doesn't list the driver. That a CSINode exists proves nothing: the kubelet
// makes one for every node, with no drivers.
func notRegistered(w *world) []draft {
	switch w.Phase {
	case Planned:
		return w.deserted()
	case Target:
		return nil
	case Now:
	}
	var said []draft
	for _, d := range w.windows() {
		if d.Provisioner == "" || d.Line == "vsphere" && beforeVSphere(w.from()) {
			continue // INTREE004 speaks of the latter
		}
		missing, unread := w.without(d.Provisioner, w.Scope(d))
		used, unused := w.using(d.Provisioner, missing)
		said = append(said, w.unregistered(d, used, finding.Block)...)
		said = append(said, w.unregistered(d, unused, finding.Warn)...)
		said = append(said, w.maybeRegistered(d.Object.String(), d.Provisioner, unread)...)
	}
	return append(said, w.unreached()...)
}

// without parts nodes: those whose CSINode lacks the provisioner, and those
// whose CSINode wasn't read.
func (w *world) without(provisioner string, nodes []*inventory.Node) (missing, unread []*inventory.Node) {
	for _, n := range nodes {
		switch c := w.CSINode(n.Name); {
		case c == nil:
			unread = append(unread, n)
		case !slices.Contains(c.Drivers, provisioner):
			missing = append(missing, n)
		}
	}
	return missing, unread
}

// using parts nodes: those where a Windows pod has a CSI volume of the
// provisioner, and the others. In-tree volumes are the in-tree gate's.
func (w *world) using(provisioner string, nodes []*inventory.Node) (used, unused []*inventory.Node) {
	for _, n := range nodes {
		if w.csiUse(provisioner)[n.Name] {
			used = append(used, n)
		} else {
			unused = append(unused, n)
		}
	}
	return used, unused
}

func (w *world) unregistered(d *inventory.Driver, nodes []*inventory.Node, sev finding.Severity) []draft {
	if len(nodes) == 0 {
		return nil
	}
	names := nodeNames(nodes)
	f := draft{Severity: sev, Object: d.Object.String()}
	f.Observed = fmt.Sprintf("CSINode of %s doesn't list %s", someOf(names), d.Provisioner)
	if sev == finding.Block {
		f.Observed += ", and Windows pods there use its volumes"
	}
	f.Expected = "every Windows node that the DaemonSet runs on lists the driver in CSINode spec.drivers"
	f.Why = "a volume can't be attached or mounted on a node that the driver isn't registered on"
	f.Do, f.When = w.repair(d, names[0]), before
	f.Evidence = cite(w.csiNodeFacts(nodes))
	return []draft{f}
}

// repair says where to look when a driver isn't registered.
func (w *world) repair(d *inventory.Driver, node string) []action.Action {
	look := [][]string{
		{"oc", "get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + node},
		{"oc", "get", "csinode", node, "-o", "jsonpath={.spec.drivers[*].name}"},
	}
	if ns := d.Object.Namespace; ns != "" {
		look = append(look, []string{"oc", "-n", ns, "logs", "daemonset/" + d.Object.Name, "--all-containers", "--tail=50"})
	}
	return []action.Action{action.ByHand{Object: d.Object.String(), Text: "repair the pod of " + d.Object.String() + " on each of these nodes until its CSINode lists the driver", Look: look}}
}

func (w *world) csiNodeFacts(nodes []*inventory.Node) []inventory.Evidence {
	var at []inventory.Evidence
	for _, n := range nodes {
		if c := w.CSINode(n.Name); c != nil {
			at = append(at, inventory.Evidence{Where: c.At.Where, Text: "spec.drivers: [" + strings.Join(c.Drivers, ", ") + "]"})
		} else {
			at = append(at, n.At)
		}
	}
	return at
}

func (w *world) maybeRegistered(object, provisioner string, nodes []*inventory.Node) []draft {
	if len(nodes) == 0 {
		return nil
	}
	f := draft{Severity: finding.Unknown, Object: object}
	f.Observed = fmt.Sprintf("the CSINodes of %s weren't read, so whether %s is registered there isn't known", someOf(nodeNames(nodes)), provisioner)
	f.Expected = "the CSINode of every Windows node that the DaemonSet runs on"
	f.Why = "only CSINode spec.drivers says whether a driver is registered on a node"
	f.Do, f.When = gather("csinodes", "csinodes.yaml"), before
	f.Evidence = cite(w.csiNodeFacts(nodes))
	return []draft{f}
}

// unreached speaks of Windows pods that use CSI volumes on nodes where no
// DaemonSet of the inventory would run the driver.
func (w *world) unreached() []draft {
	byDriver := memo(w.index, "uses by driver", func() [][]inventory.VolumeUse {
		uses := slices.DeleteFunc(slices.Clone(w.inv.Volumes), func(u inventory.VolumeUse) bool {
			// A CSI driver's name has no slash; kubernetes.io/no-provisioner and
			// the like aren't CSI drivers.
			return u.InTree != "" || u.Provisioner == "" || u.Node == "" || strings.Contains(u.Provisioner, "/")
		})
		return groups(uses, func(u inventory.VolumeUse) string { return u.Provisioner })
	})
	var said []draft
	for _, us := range byDriver {
		var nodes []*inventory.Node
		for _, n := range w.windowsNodes() {
			if w.csiUse(us[0].Provisioner)[n.Name] {
				nodes = append(nodes, n)
			}
		}
		missing, _ := w.without(us[0].Provisioner, nodes)
		missing = slices.DeleteFunc(missing, func(n *inventory.Node) bool { return w.served(us[0].Provisioner, n) })
		if len(missing) > 0 {
			said = append(said, w.noDaemonSet(us, missing))
		}
	}
	return said
}

func (w *world) noDaemonSet(us []inventory.VolumeUse, nodes []*inventory.Node) draft {
	f := draft{Severity: finding.Block, Object: us[0].Provisioner}
	f.Observed = fmt.Sprintf("Windows pods on %s use its volumes, no Windows DaemonSet of it runs there, and CSINode doesn't list it", someOf(nodeNames(nodes)))
	f.Expected = "a Windows node DaemonSet of the driver on each node that uses its volumes"
	f.Why = "a volume can't be attached or mounted on a node that the driver isn't registered on"
	if f.Do = w.deploy(w.cat.ByProvisioner(us[0].Provisioner), w.From, nodes); f.Do == nil {
		f.Remedy = "deploy the driver's Windows DaemonSet on these nodes, and wait until each lists it"
	}
	if i := slices.IndexFunc(w.windowsOf(us[0].Provisioner), func(d *inventory.Driver) bool { return untolerated(d, nodes) }); i >= 0 {
		f.Do, f.Remedy = tolerate(w.windowsOf(us[0].Provisioner)[i]), ""
	} else if have := slices.DeleteFunc(slices.Clone(w.windowsOf(us[0].Provisioner)), w.idle); len(have) > 0 {
		// A second one for all nodes would meet it.
		f.Do, f.Remedy = nil, fmt.Sprintf("let %s run on these nodes too, by its node selector, affinity and tolerations, or deploy another DaemonSet of the driver for these nodes alone; wait until each lists it", have[0].Object)
	}
	f.When = before
	at := w.csiNodeFacts(nodes)
	for _, u := range us {
		at = append(at, u.At)
	}
	f.Evidence = cite(at)
	return f
}

// untolerated tells whether only taints keep a driver off these nodes.
func untolerated(d *inventory.Driver, nodes []*inventory.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return !d.Scheduling.Selects(*n) || d.Scheduling.Tolerates(*n) })
}

// notReady is REG004: pods of a Windows DaemonSet that aren't ready. A
// DaemonSet that no node matches is common and harmless.
func notReady(w *world) []draft {
	switch w.Phase {
	case Planned:
		return w.plannedInVain()
	case Target:
		return nil
	case Now:
	}
	var said []draft
	for _, d := range w.windows() {
		r := d.Rollout
		if r == nil || r.Desired > 0 && r.Ready >= r.Desired {
			continue
		}
		f := draft{Severity: finding.Warn, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("%d of %d pods are ready", r.Ready, r.Desired)
		f.Expected = "every pod is ready"
		f.Why = "where the driver's pod isn't ready, volumes can't be mounted"
		f.Do = []action.Action{action.WaitRollout{Object: d.Object}}
		if r.Desired == 0 {
			f.Severity = finding.Info
			f.Observed = "no node matches it: 0 pods are wanted"
			f.Expected = "a Windows node that it runs on, if the driver is needed"
			f.Why = "many clusters carry such a DaemonSet; it does nothing until a Windows node matches"
			f.Do = nil
		}
		f.When = before
		f.Evidence = cite(d.Evidence)
		said = append(said, f)
	}
	return said
}
