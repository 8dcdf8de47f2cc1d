package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

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
