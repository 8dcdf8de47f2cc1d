package skew

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// admissionRules judge whether a driver's pods are let in: by the namespace, and
// by the nodes.
var admissionRules = []rule{
	{Rule: Rule{
		ID: "POLICY001", Title: "namespace refuses the driver's pods", Severity: finding.Block, Scope: PerDriver,
		Needs:  needsDrivers,
		Source: "https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline",
		Ground: "the levels baseline and restricted allow neither HostProcess containers nor hostPath volumes, which csi-proxy's pipes are",
		Text: `Reads the level that the namespace of each Windows driver enforces, of planned manifests too.

BLOCK  it is baseline or restricted, and pods are still to be made: the manifest is planned, pods
       aren't ready, or an update makes nodes anew. An admin sets the level first; the DaemonSet
       would have no pod, and only its events say why.
WARN   the same, all pods are ready and no update is asked about. Pods that are there stay; the next
       one is refused.

A namespace without the label, or one that wasn't read, isn't judged.`,
		Remedy: "let the namespace enforce privileged, and keep OpenShift's label syncer off it",
	}, driver: refusedPods},
	{Rule: Rule{
		ID: "NODE004", Title: "driver doesn't tolerate a taint of Windows nodes", Severity: finding.Warn, Scope: PerCluster,
		Needs:  needsScope,
		Source: "https://github.com/openshift/windows-machine-config-operator#windows-workloads-taints",
		Ground: "a DaemonSet makes no pod on a node whose taint it doesn't tolerate",
		Text: `Compares the taints of the Windows nodes that a driver selects with its tolerations.

WARN  it tolerates none of these nodes, so that it runs nowhere. WMCO's nodes have the taint
      os=Windows:NoSchedule, and upstream's manifests of Azure Disk, Azure File and SMB tolerate
      node.kubernetes.io/os. An admin adds the toleration before pods need a volume.
INFO  it runs on other Windows nodes, and no pod needs its volumes on the tainted ones.

Where pods on a tainted node need its volumes, REG001 blocks.`,
		Remedy: "add a toleration for the taint, or for all: operator: Exists",
	}, cluster: untoleratedTaints},
}

// refusedPods is POLICY001.
func refusedPods(v *view, out *sink) {
	n := v.inv.Cluster.Namespace(v.D.Object.Namespace)
	if n == nil || n.Enforce != "baseline" && n.Enforce != "restricted" || !v.D.HostProcess && len(v.D.Pipes)+len(v.D.Unmounted) == 0 {
		return
	}
	d := draft{
		Severity: finding.Block, When: before, Evidence: slices.Concat([]inventory.Evidence{n.At}, v.D.Evidence[:min(1, len(v.D.Evidence))]),
		Observed: fmt.Sprintf("namespace %s enforces the Pod Security level %s", n.Name, n.Enforce),
		Expected: "the level privileged",
		Why:      "the API server refuses each new pod of the DaemonSet; only the DaemonSet's events tell",
		Do:       []action.Action{action.SetPodSecurity{Namespace: n.Name, Was: n}},
	}
	if r := v.D.Rollout; !v.Planned && v.Hops == 0 && r != nil && r.Desired > 0 && r.Ready >= r.Desired {
		d.Severity = finding.Warn
		d.Why = "the pods that are there stay; one that is made anew, on a new node or after a change, is refused"
	}
	out.add(d)
}

// untoleratedTaints is NODE004. Of planned manifests REG004 tells.
func untoleratedTaints(w *world, out *sink) {
	for _, v := range w.Views {
		if w.Phase == Now && v.D.Provisioner != "" && v.D.OS == "windows" {
			v.untolerated(out)
		}
	}
}

func (v *view) untolerated(out *sink) {
	var nodes []*inventory.Node
	for _, n := range v.windowsNodes() {
		if v.D.Scheduling.Selects(*n) && !v.D.Scheduling.Tolerates(*n) && !v.served(v.D.Provisioner, n) {
			nodes = append(nodes, n)
		}
	}
	used, _ := v.using(v.D.Provisioner, nodes)
	if len(nodes) == 0 || len(used) > 0 && len(v.Nodes) > 0 {
		return // REG001 speaks of nodes that need it
	}
	d := draft{
		Severity: finding.Warn, Object: v.D.Object.String(), When: before, Evidence: cite(slices.Concat(v.D.Evidence[:min(1, len(v.D.Evidence))], evidenceOf(nodes))),
		Observed: fmt.Sprintf("it doesn't tolerate %s of %s", taints(v.D, nodes), someOf(nodeNames(nodes))),
		Expected: "a toleration for each taint of the Windows nodes",
		Why:      "it runs on no Windows node, and no volume can be mounted there",
	}
	if len(v.Nodes) > 0 {
		d.Severity, d.Why = finding.Info, "it runs on other Windows nodes; where these are to have no storage, nothing is wrong"
	} else {
		d.Do = tolerate(v.D)
	}
	out.add(d)
}

// tolerate has a driver run on every node that it selects.
func tolerate(d *inventory.Driver) []action.Action {
	to := *d
	to.Scheduling.Tolerations = []inventory.Toleration{{Operator: "Exists"}}
	return []action.Action{action.EditDriver{
		Object: d.Object, Becomes: &to, Strategy: d.Strategy,
		Patch: `{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}}`,
		Text:  fmt.Sprintf("give the pods of %s the toleration operator: Exists, which takes all nodes that it selects", d.Object),
	}}
}

// taints are those of nodes that keep pods of d off.
func taints(d *inventory.Driver, nodes []*inventory.Node) string {
	var names []string
	for _, n := range nodes {
		for _, t := range n.Taints {
			one := *n
			if one.Taints = []inventory.Taint{t}; !d.Scheduling.Tolerates(one) {
				names = append(names, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
			}
		}
	}
	return someOf(names)
}
