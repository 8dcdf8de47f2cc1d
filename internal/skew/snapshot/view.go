package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// LineWith is the first line of the driver that a test takes; nil for none.
func (v *View) LineWith(test func(*catalog.Line) bool) *catalog.Line {
	if v.Catalog == nil {
		return nil
	}
	return First(Pointers(v.Catalog.Lines), test)
}

// WhoseLinux says whose the Linux version is.
func (v *View) WhoseLinux() string {
	switch {
	case v.At.Inventory.Cluster.Other != "":
		return ""
	case v.Linux().Fixed && v.Linux().Driver != nil:
		return " (not part of OpenShift's release)"
	case v.At.Release().IsZero():
		return ""
	}
	return " (OpenShift " + v.At.Release().String() + ")"
}

// HasRival tells whether DATA001 asks which of two Linux drivers runs: what
// follows the one may do harm beside the other.
func (v *View) HasRival() bool { return v.Linux().Rival != nil || v.LinuxTarget.Rival != nil }

// Linux is the Linux side in this phase.
func (v *View) Linux() *Linux {
	if v.At.Phase == Now {
		return &v.LinuxNow
	}
	return &v.LinuxTarget
}

// Windows is the DaemonSet's version; false where it isn't known.
func (v *View) Windows() (version.Driver, bool) {
	return v.DaemonSet.Version.Version, v.DaemonSet.Version.Known
}

// SameCommit tells whether the Windows driver was built from the commit that the
// Linux side l is of, by a payload.
func (v *View) SameCommit(l *Linux) bool { return l.OfCommit(v.DaemonSet.Version.Commit) }

// Picks are upstream's commits that the Linux side l has beyond its version, as far as
// the catalog knows: those of its branch's newest commit, if l isn't of another.
func (v *View) Picks(l *Linux) []string {
	if v.Catalog == nil {
		return nil
	}
	b, minor := v.At.Catalog.Build(v.Catalog.Name), v.At.Release().MinorString()
	if b == nil || b.Head(minor) == nil || len(l.Candidates) != 1 {
		return nil
	}
	h, c := b.Head(minor), &l.Candidates[0]
	if c.Version.Core() != CatalogVersion(h.Version).Core() || c.Commit != "" && c.Commit != h.Commit {
		return nil
	}
	return h.Picks
}

// Name is the driver's title, or its provisioner, or its DaemonSet's name.
func (v *View) Name() string {
	switch {
	case v.Catalog != nil:
		return v.Catalog.Title
	case v.DaemonSet.Provisioner != "":
		return v.DaemonSet.Provisioner
	}
	return v.DaemonSet.Object.Name
}

// FollowsLinux tells whether an operator of OpenShift keeps this Windows DaemonSet at
// the version of the Linux one.
func (v *View) FollowsLinux() bool { return v.At.Operated(v.DaemonSet) }

// OperatorTakesOver tells whether the DaemonSet is to go, because the release of this hop
// deploys it itself. REG002 says so; to follow Linux makes no sense then.
func (v *View) OperatorTakesOver() bool {
	if v.At.Phase == Now || v.FollowsLinux() {
		return false
	}
	to := v.At.Catalog.Release(v.At.ToMinor())
	return to != nil && slices.Contains(to.WindowsManaged, v.DaemonSet.Line)
}

// Unscheduled tells whether the cluster itself says that the DaemonSet runs nowhere.
// Many clusters carry one from the time before they had Windows nodes.
func (v *View) Unscheduled() bool {
	r := v.DaemonSet.Rollout
	return r != nil && r.Observed && r.Desired == 0 && v.At.KnownUnmatched(v.DaemonSet)
}

// Evidence is where image and version were read.
func (v *View) Evidence() []inventory.Evidence {
	list := []inventory.Evidence{v.DaemonSet.Version.At}
	if v.DaemonSet.Version.At.Where == "" {
		list = v.DaemonSet.Evidence
	}
	return list
}

// SeenRegistered tells whether what a rule derives is seen not to be so: that the driver
// can't start or register, on these nodes or, where they are nil, on all of its own.
func (v *View) SeenRegistered(nodes []*inventory.Node) bool {
	if nodes == nil {
		nodes = v.Nodes
	}
	return len(nodes) > 0 && len(v.Unproven(nodes)) == 0
}

// Unproven are the nodes that the driver isn't seen to work on.
func (v *View) Unproven(nodes []*inventory.Node) []*inventory.Node {
	return Select(nodes, func(n *inventory.Node) bool { return !v.At.SeenWorking(v.DaemonSet, n) })
}

// Resource is a kind of object that rules need: Title for people, API for oc.
type Resource struct {
	Resource   inventory.Resource
	Title, API string
}

// Resources are all of them, in the order in which missing ones are told.
var Resources = []Resource{
	{inventory.DaemonSets, "DaemonSets", "daemonsets.apps"},
	{inventory.Nodes, "Nodes", "nodes"},
	{inventory.CSINodes, "CSINodes", "csinodes.storage.k8s.io"},
	{inventory.Pods, "Pods", "pods"},
	{inventory.Volumes, "PersistentVolumes", "persistentvolumes"},
	{inventory.Claims, "PersistentVolumeClaims", "persistentvolumeclaims"},
	{inventory.ClusterVersion, "the ClusterVersion", "clusterversions.config.openshift.io"},
	{inventory.Services, "WMCO's ConfigMap windows-services", "configmaps"},
	{inventory.Namespaces, "Namespaces", "namespaces"},
	{inventory.Pools, "MachineConfigPools", "machineconfigpools.machineconfiguration.openshift.io"},
	{inventory.CSIDrivers, "ClusterCSIDrivers", "clustercsidrivers.operator.openshift.io"},
	{inventory.AdminGates, "the ConfigMap admin-gates", "configmaps"},
	{inventory.AdminAcks, "the ConfigMap admin-acks", "configmaps"},
}

// Named is a resource as it is told and asked for.
func Named(r inventory.Resource) Resource {
	return Resources[slices.IndexFunc(Resources, func(n Resource) bool { return n.Resource == r })]
}

// Missing says which of the resources wasn't read; "" where all were, if only
// in part.
func (snap *Snapshot) Missing(needs []inventory.Resource) string {
	unread := Select(needs, func(r inventory.Resource) bool { return !snap.Covered(r) })
	return strings.Join(Map(unread, func(r inventory.Resource) string { return Named(r).Title + ": " + snap.UnreadReason(r) }), "; ")
}

// UnreadReason is why a resource wasn't read.
func (snap *Snapshot) UnreadReason(r inventory.Resource) string {
	return cmp.Or(snap.Inventory.Read[r].Reason, "not in what was read")
}
