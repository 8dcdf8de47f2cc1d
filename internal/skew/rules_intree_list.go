package skew

import (
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// inTreeRules judge whether in-tree volumes stand in the way of an update.
var inTreeRules = []rule{
	{Rule: Rule{
		ID: "INTREE001", Title: "in-tree volumes without a CSI driver", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods},
		Ground: "a release that serves an in-tree plugin by CSI can't mount its volumes on a Windows node without the driver",
		Text: `Takes the in-tree volumes (claims, volumes, inline) of Windows pods, scheduled or not, and what each
release on the way does with their plugin on Windows nodes.

BLOCK    a node with such a pod lacks the driver in CSINode spec.drivers; any node, where a pod
         waits for one.
WARN     another Windows node lacks it, to which such a pod may move; or vSphere's DaemonSet is
         there and waits for a control plane at 4.14.
UNKNOWN  CSINodes, claims or volumes weren't read, or the catalog doesn't know the plugin.

It sees Azure File, which is never attached; WMCO 9's own gate, which goes by attached volumes,
doesn't.`,
		Remedy: "deploy csi-proxy and the driver first, see the driver in CSINode, then let nodes be updated one at a time",
	}, cluster: saying(inTreeGate), asks: ofHops},
	{Rule: Rule{
		ID: "INTREE002", Title: "in-tree volumes that nobody migrates", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  needsClaims,
		Ground: "on AWS and GCP, in-tree volumes of Windows nodes aren't taken over from before OpenShift 4.12",
		Text: `BLOCK where Windows pods use in-tree volumes of AWS or GCP, and the update brings the release that
serves them by CSI. From 4.12 on they are INTREE001's.`,
		Remedy: "copy the data away and make the volumes anew with the CSI driver",
	}, cluster: saying(inTreeStranded), asks: ofHops},
	{Rule: Rule{
		ID: "INTREE003", Title: "labels that hold or release nodes", Severity: finding.Warn, Scope: PerCluster, Source: wmcoGate,
		Needs:  needsNodes,
		Ground: "WMCO 8 and 9 don't update a node with attached volumes until it has the label allow-upgrade=true",
		Text: `WARN  a node is held (upgrade-blocked), or all Windows nodes are released at once.
INFO  some nodes are released; or the labels are left over in a release whose WMCO doesn't look at
      them.`,
		Remedy: "release one node at a time, when its CSINode lists the driver; remove the labels after the update",
	}, cluster: saying(upgradeLabels)},
	{Rule: Rule{
		ID: "INTREE004", Title: "vSphere's Windows driver before 4.14", Severity: finding.Block, Scope: PerCluster, Source: vsphereFeatures,
		Needs:  needsDrivers,
		Ground: "OpenShift switches csi-windows-support on from 4.14; the driver refuses Windows without",
		Text: `BLOCK  vSphere's Windows driver is deployed or planned on a release before 4.14, and isn't
       registered on its nodes.
WARN   the same, and the update leads to 4.14 or past it.`,
		Remedy: "keep the in-tree volumes until the control plane is at 4.14, and let the driver come then",
	}, cluster: saying(earlyVSphere)},
	{Rule: Rule{
		ID: "INTREE005", Title: "an update waits for an acknowledgement", Severity: finding.Warn, Scope: PerCluster,
		Source: "https://docs.openshift.com/container-platform/4.13/updating/updating-cluster-prepare.html",
		Ground: "an update doesn't start while a gate that applies isn't acknowledged",
		Text: `Reads what the cluster asks for (ConfigMap admin-gates, condition Upgradeable) and what was
acknowledged (admin-acks), storage or not. Where it wasn't read, and for later hops, the gates are
the catalog's.

WARN  the cluster waits for it; or it is a storage driver's of the catalog, and the cluster has
      in-tree volumes of that driver, or its volumes weren't read.
INFO  another one of the catalog, which the plan has as a step.

An admin looks at the condition before the maintenance window, and acknowledges.`,
		Remedy: "meet the gate's condition, then acknowledge it in the ConfigMap admin-acks",
	}, cluster: saying(adminGates), asks: ofHops},
}
