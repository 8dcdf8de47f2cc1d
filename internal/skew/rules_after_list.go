package skew

import (
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// afterRules are the check after an update: they speak only where no target is
// named.
var afterRules = []rule{
	{Rule: Rule{
		ID: "AFTER001", Title: "an update or a rollout isn't finished", Severity: finding.Warn, Scope: PerCluster,
		Source: "https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/",
		Needs:  needsDrivers,
		Ground: "until an update and its rollouts are finished, nodes run different versions of a driver",
		Text: `Without a target:

WARN  the cluster's own update isn't complete; or the pods of a driver's DaemonSet, on Linux or
      Windows, aren't all of the newest revision.

In the middle of an update the other rules judge the rest of it, and the check after it waits.`,
		Remedy: "wait for the update and the rollouts, or delete old pods of a DaemonSet with the strategy OnDelete; then check again",
	}, cluster: saying(afterRollouts), asks: ofState},
	{Rule: Rule{
		ID: "AFTER002", Title: "volumes weren't migrated", Severity: finding.Warn, Scope: PerCluster, Source: migrationDesign,
		Needs:  []inventory.Resource{inventory.Volumes, inventory.Claims},
		Ground: "kube-controller-manager marks volumes and claims that it hands over to CSI with pv.kubernetes.io/migrated-to",
		Text: `Without a target:

WARN  in-tree volumes and claims, of a plugin that the release serves by CSI, that a provisioner
      made and that don't carry the annotation.

Volumes that were made by hand never get it and aren't looked at.`,
		Remedy: "see that the storage operator is healthy and the CSIDriver is there; for vSphere, opt in to the migration",
	}, cluster: saying(afterMigrated), asks: ofRest},
	{Rule: Rule{
		ID: "AFTER003", Title: "migrated volumes without a driver", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods},
		Ground: "a volume that CSI took over can't be mounted on a Windows node without the driver",
		Text: `INTREE001 without a target, for plugins that the cluster's own release serves by CSI:

BLOCK    a node with a Windows pod that uses such a volume lacks the driver in CSINode spec.drivers.
WARN     another Windows node lacks it, to which such a pod may move.
UNKNOWN  CSINodes, claims or volumes weren't read.`,
		Remedy: "deploy the driver's Windows DaemonSet, and see it in the node's CSINode",
	}, cluster: saying(afterNodes), asks: ofRest},
	{Rule: Rule{
		ID: "AFTER004", Title: "Windows nodes weren't updated", Severity: finding.Warn, Scope: PerCluster,
		Source: "https://github.com/openshift/windows-machine-config-operator/blob/master/README.md",
		Needs:  needsNodes,
		Ground: "WMCO updates Windows nodes after the control plane; they run the old kubelet and csi-proxy until then",
		Text: `Without a target:

WARN  the WMCO of a Windows node is older than the one wanted or installed, or its kubelet is of an
      older minor than the API server.

How far behind a kubelet may be is NODE001's.`,
		Remedy: "let WMCO for the release update the nodes; install it again where it was taken out",
	}, cluster: saying(afterWindows), asks: ofRest},
}
