package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Annotations that WMCO keeps on the nodes that it configures:
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/metadata/metadata.go
const (
	wmcoVersion = "windowsmachineconfig.openshift.io/version"
	wmcoDesired = "windowsmachineconfig.openshift.io/desired-version"
)

// node takes a node. Of one that doesn't run Windows only the labels are kept.
func (c *Collector) node(o inventory.Object, n *corev1.Node, at Locator) {
	if c.repeated(o, inventory.Nodes, func() any { return bareNode(n) }, at) {
		return
	}
	c.other = cmp.Or(inventory.Distribution(n.Status.NodeInfo.KubeletVersion, n.Labels, n.Annotations), c.other)
	switch nodeOS(n) {
	case windows:
		c.systems[n.Name] = windows
		c.inv.Nodes = append(c.inv.Nodes, windowsNode(n, at))
	case linux:
		c.systems[n.Name] = linux
		c.linuxNodes = append(c.linuxNodes, inventory.Node{Name: n.Name, Labels: n.Labels})
		c.inv.LinuxNodes++
	default:
		c.problem(inventory.Problem{
			Where: at(), What: o.String() + " doesn't say which operating system it runs",
			Fix: "give the node as the cluster has it", Command: "kubectl get node " + shell.Word(n.Name) + " -o yaml",
		})
	}
}

// bareNode is what is kept of a node, without where it was read and what comes
// and goes while it runs: the taints that Kubernetes itself sets tell of its
// condition, or that it is cordoned.
func bareNode(n *corev1.Node) any {
	if os := nodeOS(n); os != windows {
		return os
	}
	kept := windowsNode(n, func(...any) string { return "" })
	kept.Ready = false
	kept.Taints = slices.DeleteFunc(kept.Taints, func(t inventory.Taint) bool { return strings.HasPrefix(t.Key, "node.kubernetes.io/") })
	return kept
}

// UnreadNodes are nodes that other objects speak of and that weren't read
// themselves, sorted. The kubelet makes a CSINode for each node; of pods those
// count that may run on Windows. Nodes that run Linux by their pods are left
// out.
func (c *Collector) UnreadNodes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unread []string
	for _, name := range slices.Concat(slices.Collect(maps.Keys(c.csiNodes)), slices.Collect(maps.Keys(c.homes))) {
		if !c.readNode(name) && !c.onLinux(name) {
			unread = append(unread, name)
		}
	}
	slices.Sort(unread)
	return slices.Compact(unread)
}

// nodeOS is the system that the kubelet reports, or else its labels.
func nodeOS(n *corev1.Node) string {
	if os := n.Status.NodeInfo.OperatingSystem; os != "" {
		return os
	}
	for _, label := range osLabels {
		if os := n.Labels[label]; os != "" {
			return os
		}
	}
	if n.Labels[corev1.LabelWindowsBuild] != "" || strings.HasPrefix(n.Status.NodeInfo.OSImage, "Windows") {
		return windows
	}
	return ""
}

func windowsNode(n *corev1.Node, at Locator) inventory.Node {
	info := n.Status.NodeInfo
	out := inventory.Node{
		Name: n.Name, Labels: n.Labels, Build: version.WindowsBuild(info.KernelVersion), Revision: version.WindowsRevision(info.KernelVersion), OSImage: info.OSImage, Kubelet: info.KubeletVersion, Runtime: info.ContainerRuntimeVersion,
		WMCO: n.Annotations[wmcoVersion], DesiredWMCO: n.Annotations[wmcoDesired], At: inventory.Evidence{Where: at()},
	}
	out.Build = cmp.Or(out.Build, version.WindowsBuild(n.Labels[corev1.LabelWindowsBuild]))
	if out.WMCO != "" {
		out.At = inventory.Evidence{Where: at("metadata", "annotations", wmcoVersion), Text: wmcoVersion + ": " + out.WMCO}
	}
	for _, t := range n.Spec.Taints {
		out.Taints = append(out.Taints, inventory.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	out.Ready = slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return out
}

func (c *Collector) csiNode(o inventory.Object, n *storagev1.CSINode, at Locator) {
	if c.repeated(o, inventory.CSINodes, func() any { return bareCSINode(n) }, at) || c.systems[n.Name] == linux {
		return
	}
	out := readCSINode(n)
	out.At = inventory.Evidence{Where: at("spec", "drivers"), Text: "drivers: [" + strings.Join(out.Drivers, ", ") + "]"}
	c.csiNodes[n.Name] = out
}

// bareCSINode is what is kept of a CSINode; the kubelet lists drivers in the
// order in which they came.
func bareCSINode(n *storagev1.CSINode) any {
	out := readCSINode(n)
	slices.Sort(out.Drivers)
	slices.Sort(out.Migrated)
	return out
}

func readCSINode(n *storagev1.CSINode) inventory.CSINode {
	out := inventory.CSINode{Name: n.Name, Drivers: []string{}}
	for _, d := range n.Spec.Drivers {
		out.Drivers = append(out.Drivers, d.Name)
		if len(d.TopologyKeys) > 0 {
			if out.TopologyKeys == nil {
				out.TopologyKeys = map[string][]string{}
			}
			out.TopologyKeys[d.Name] = slices.Sorted(slices.Values(d.TopologyKeys))
		}
	}
	for plugin := range strings.SplitSeq(n.Annotations[corev1.MigratedPluginsAnnotationKey], ",") {
		if plugin = strings.TrimSpace(plugin); plugin != "" {
			out.Migrated = append(out.Migrated, plugin)
		}
	}
	return out
}
