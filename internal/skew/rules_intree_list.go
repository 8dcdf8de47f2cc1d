package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// inTreeRules judge whether in-tree volumes stand in the way of an update, and
// whether an update left something behind.
var inTreeRules = slices.Concat(gateRules, afterRules)

var gateRules = []rule{
	{Rule: Rule{
		ID: "INTREE001", Title: "in-tree volumes without a CSI driver", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods},
		Ground: "A release that serves an in-tree plugin by CSI can't mount its volumes on a Windows node without the driver.",
		Text: `Takes the in-tree volumes (claims, volumes, inline) of Windows pods, scheduled or not, and what each release on the
way does with their plugin on Windows nodes. BLOCK where a node with such a pod, or any where one is pending, lacks the
driver in CSINode spec.drivers; WARN for Windows nodes that such a pod may move to, and where vSphere's DaemonSet waits
for a control plane at 4.14. UNKNOWN where CSINodes, claims or volumes weren't read or the catalog doesn't know the
plugin. It sees Azure File, which is never attached; WMCO 9's own gate, which goes by attached volumes, doesn't.`,
	}, cluster: saying(inTreeGate), asks: ofHops},
	{Rule: Rule{
		ID: "INTREE002", Title: "in-tree volumes that nobody migrates", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  []inventory.Resource{inventory.Pods},
		Ground: "On AWS and GCP, in-tree volumes of Windows nodes aren't taken over from before OpenShift 4.12.",
		Text:   `BLOCK where Windows pods use in-tree volumes of AWS or GCP and the update brings a release that serves them by CSI.`,
	}, cluster: saying(inTreeStranded), asks: ofHops},
	{Rule: Rule{
		ID: "INTREE003", Title: "labels that hold or release nodes", Severity: finding.Warn, Scope: PerCluster, Source: wmcoGate,
		Needs:  []inventory.Resource{inventory.Nodes},
		Ground: "WMCO 8 and 9 don't update a node with attached volumes until it has the label allow-upgrade=true.",
		Text: `WARN where a node is held (upgrade-blocked), and where all Windows nodes are released at once; INFO where some are, and
where the labels are left over in a release whose WMCO doesn't look at them.`,
	}, cluster: saying(upgradeLabels)},
	{Rule: Rule{
		ID: "INTREE004", Title: "vSphere's Windows driver before 4.14", Severity: finding.Block, Scope: PerCluster, Source: vsphereFeatures,
		Needs:  []inventory.Resource{inventory.DaemonSets},
		Ground: "OpenShift switches csi-windows-support on from 4.14; the driver refuses Windows without.",
		Text: `BLOCK where vSphere's Windows driver is deployed or planned on a release before 4.14 and isn't registered on its nodes;
WARN where the update leads to 4.14 or past it.`,
	}, cluster: saying(earlyVSphere)},
	{Rule: Rule{
		ID: "INTREE005", Title: "an update waits for an acknowledgement", Severity: finding.Warn, Scope: PerCluster,
		Source: "https://docs.openshift.com/container-platform/4.13/updating/updating-cluster-prepare.html",
		Ground: "An update doesn't start while a gate that applies isn't acknowledged.",
		Text: `Lists the gates of each update that the catalog knows and that weren't acknowledged: WARN where the cluster has in-tree
volumes of the gate's driver, INFO otherwise. Their own conditions, vCenter's version for one, can't be seen.`,
	}, cluster: saying(adminGates), asks: ofHops},
}

// afterRules are the check after an update: they speak only where no target is
// named.
var afterRules = []rule{
	{Rule: Rule{
		ID: "AFTER001", Title: "a rollout isn't finished", Severity: finding.Warn, Scope: PerCluster,
		Source: "https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/",
		Needs:  []inventory.Resource{inventory.DaemonSets},
		Ground: "Until a rollout is finished, nodes run different versions of a driver.",
		Text:   `Without a target: WARN for a driver's DaemonSet, on Linux or Windows, whose pods aren't all of the newest revision.`,
	}, cluster: saying(afterRollouts), asks: ofState},
	{Rule: Rule{
		ID: "AFTER002", Title: "volumes weren't migrated", Severity: finding.Warn, Scope: PerCluster, Source: migrationDesign,
		Needs:  []inventory.Resource{inventory.Volumes, inventory.Claims},
		Ground: "kube-controller-manager marks volumes and claims that it hands over to CSI with pv.kubernetes.io/migrated-to.",
		Text: `Without a target: WARN for in-tree volumes and claims of a plugin that the release serves by CSI and that don't carry the
annotation. A volume that was made by hand never gets it.`,
	}, cluster: saying(afterMigrated), asks: ofRest},
	{Rule: Rule{
		ID: "AFTER003", Title: "migrated volumes without a driver", Severity: finding.Block, Scope: PerCluster, Source: csiProxyEnhancement,
		Needs:  []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods},
		Ground: "A volume that CSI took over can't be mounted on a Windows node without the driver.",
		Text:   `INTREE001 without a target: for plugins that the cluster's own release serves by CSI.`,
	}, cluster: saying(afterNodes), asks: ofRest},
	{Rule: Rule{
		ID: "AFTER004", Title: "Windows nodes weren't updated", Severity: finding.Warn, Scope: PerCluster,
		Source: "https://github.com/openshift/windows-machine-config-operator/blob/master/README.md",
		Needs:  []inventory.Resource{inventory.Nodes},
		Ground: "WMCO updates Windows nodes after the control plane; they run the old kubelet and csi-proxy until then.",
		Text: `Without a target: WARN for Windows nodes whose WMCO is older than the one wanted or installed, or whose kubelet is
of an older minor than the API server. How far behind a kubelet may be is NODE001's.`,
	}, cluster: saying(afterWindows), asks: ofRest},
}
