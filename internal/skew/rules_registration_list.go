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
		Ground: "The kubelet mounts a CSI volume only where the driver registered; CSINode spec.drivers lists it then.",
		Text: `Looks for the provisioner in CSINode spec.drivers of every Windows node that its DaemonSet runs on. BLOCK where Windows
pods on such a node use its CSI volumes, also where no DaemonSet of it runs there; WARN where none do. UNKNOWN where a
node's CSINode wasn't read. That a CSINode exists proves nothing: the kubelet makes one for every node, without drivers.`,
	}, cluster: saying(notRegistered)},
	{Rule: Rule{
		ID: "REG002", Title: "two DaemonSets for one driver", Severity: finding.Block, Scope: PerCluster, Source: validateVersions,
		Needs:  []inventory.Resource{inventory.DaemonSets},
		Ground: "The kubelet takes one driver of a name on a node.",
		Text: `BLOCK where two Windows DaemonSets of one provisioner run on the same node, or choose nodes alike where no nodes were
read. UNKNOWN where they choose nodes otherwise and none were read. WARN where an operator of the target is to deploy
the Windows DaemonSet itself; the ground of that half is an enhancement's pull request.`,
	}, cluster: saying(doubleDriver)},
	{Rule: Rule{
		ID: "REG003", Title: "node-driver-registrar is too old", Severity: finding.Warn, Scope: PerCluster, Source: csiWindows,
		Needs:  []inventory.Resource{inventory.DaemonSets},
		Ground: "node-driver-registrar runs on Windows from 1.3.0.",
		Text: `WARN for an older registrar beside a Windows driver, and for a liveness probe that runs the registrar and can't work: it
lacks --mode=kubelet-registration-probe, or the registrar is from before 2.3.0, which brought that mode. UNKNOWN where
the registrar's version isn't known. No probe at all is fine: it is optional.
Set the image of the registrar's container to a newer one, and mend the probe's command.`,
	}, cluster: saying(oldRegistrar)},
	{Rule: Rule{
		ID: "REG004", Title: "driver's pods aren't ready", Severity: finding.Warn, Scope: PerCluster, Source: daemonSetDocs,
		Needs:  []inventory.Resource{inventory.DaemonSets},
		Ground: "A volume can't be mounted on a node where the driver's pod isn't ready.",
		Text: `WARN where a Windows DaemonSet has fewer ready pods than wanted, INFO where no node matches it. A manifest without a
status says nothing.`,
	}, cluster: saying(notReady)},
}
