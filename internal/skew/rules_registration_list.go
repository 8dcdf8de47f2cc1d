package skew

import (
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// registrationRules judge whether drivers are registered with their nodes.
var registrationRules = []rule{
	{Rule: Rule{
		ID: "REG001", Title: "driver isn't registered on a node", Severity: finding.Block, Scope: PerCluster, Source: nodeInfoManager,
		Needs:  []inventory.Resource{inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods},
		Ground: "the kubelet mounts a CSI volume only where the driver registered; CSINode spec.drivers lists it then",
		Text: `Looks for the provisioner in CSINode spec.drivers of every Windows node that its DaemonSet runs on.

BLOCK    it isn't there, and Windows pods on the node use its CSI volumes; also where no DaemonSet
         of it runs there at all.
WARN     it isn't there, and no pod on the node uses its volumes.
UNKNOWN  the node's CSINode wasn't read.

With --planned it is BLOCK and WARN alike of a node that has a DaemonSet of the driver now, and
with the planned manifests none.

That a CSINode exists proves nothing: the kubelet makes one for every node, without drivers.`,
		Remedy: "mend the DaemonSet's pod on the node until its CSINode lists the driver; the registrar's log says why it doesn't",
	}, cluster: saying(notRegistered)},
	{Rule: Rule{
		ID: "REG002", Title: "two DaemonSets for one driver", Severity: finding.Block, Scope: PerCluster, Source: validateVersions,
		Needs:  needsDrivers,
		Ground: "the kubelet takes one driver of a name on a node",
		Text: `BLOCK    two Windows DaemonSets of one provisioner run on the same node, or choose nodes alike where
         no nodes were read.
UNKNOWN  they choose nodes otherwise, and none were read.
INFO     by the catalog an operator of the target deploys the Windows DaemonSet itself: yours stays
         until that one is there. Proposals aren't in the catalog.
INFO     a DaemonSet looks like an operator's, and no operator of the cluster's release deploys such
         a one: it is judged as deployed by hand.`,
		Remedy: "keep one of them: the operator's, where there is one",
	}, cluster: saying(doubleDriver)},
	{Rule: Rule{
		ID: "REG003", Title: "node-driver-registrar is too old, or its probe can't work", Severity: finding.Unknown, Scope: PerCluster, Source: csiWindows,
		Needs:  needsDrivers,
		Ground: "node-driver-registrar runs on Windows from 1.3.0, and answers liveness probes from 2.3.0",
		Text: `WARN     the registrar beside a Windows driver is older; or its liveness probe runs the registrar
         without --mode=kubelet-registration-probe, or in a version from before that mode.
UNKNOWN  the registrar's version isn't known.

No probe at all is fine: it is optional.`,
		Remedy: "set the registrar's image to a newer one, and mend the probe's command",
	}, cluster: saying(oldRegistrar), starts: true},
	{Rule: Rule{
		ID: "REG004", Title: "driver's pods aren't ready", Severity: finding.Warn, Scope: PerCluster, Source: daemonSetDocs,
		Needs:  needsDrivers,
		Ground: "a volume can't be mounted on a node where the driver's pod isn't ready",
		Text: `WARN  a Windows DaemonSet has fewer ready pods than wanted.
WARN  a planned one matches no Windows node, and the present one of its driver has pods.
INFO  no node matches it: many clusters carry such a DaemonSet, and it does nothing.

A manifest without a status says nothing.`,
		Remedy: "find out why the pods aren't ready: their events and logs say",
	}, cluster: saying(notReady)},
}
