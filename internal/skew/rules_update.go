package skew

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// updateRules judge what the cluster itself says about an update.
var updateRules = []rule{
	{Rule: Rule{
		ID: "UPDATE001", Title: "the cluster refuses the update", Severity: finding.Block, Scope: PerCluster,
		Source: "https://github.com/openshift/cluster-version-operator/blob/main/docs/user/status.md#upgradeable",
		Ground: "the cluster version operator starts no update to another minor while Upgradeable is False",
		Text: `Reads the condition Upgradeable of the ClusterVersion. It holds updates to another minor only, and
speaks of the first one on the way.

BLOCK  it is False. An admin fixes what the reason names before the maintenance window, not in it.
WARN   it is False for acknowledgements alone (AdminAckRequired), and INTREE005 names none of them.`,
		Remedy: "fix what the condition's message names, and check again",
	}, cluster: saying(refusedUpdate), asks: ofHops},
	{Rule: Rule{
		ID: "UPDATE002", Title: "OpenShift doesn't manage the Linux driver", Severity: finding.Warn, Scope: PerDriver,
		Needs:  needsDrivers,
		Source: "https://github.com/openshift/api/blob/master/operator/v1/types_csi_cluster_driver.go",
		Ground: "an operator whose managementState isn't Managed leaves its operands as they are",
		Text: `Reads managementState of the ClusterCSIDriver of each Windows driver.

WARN  it is Unmanaged or Removed, and an update is asked about: the Linux driver stays where it is,
      so the versions that the release ships aren't those that will run. An admin sets it back
      first, or goes by the Linux DaemonSet that is there.
INFO  the same, without an update.

ClusterCSIDrivers that weren't read say nothing.`,
		Remedy: "set managementState to Managed, or compare with the Linux DaemonSet that runs",
	}, driver: unmanagedLinux},
}

const ackRequired = "AdminAckRequired"

// refusedUpdate is UPDATE001.
func refusedUpdate(w *world) []draft {
	c := w.inv.Cluster.Condition("Upgradeable")
	if w.Phase != Target || w.Hop > 0 || c == nil || c.Status != "False" || w.from() == w.to() {
		return nil
	}
	f := draft{Severity: finding.Block, Object: "ClusterVersion version", When: before}
	if c.Reason == ackRequired {
		// INTREE005 says what to acknowledge. A gate that has just been acknowledged
		// keeps the condition for a moment.
		if len(w.openGates()) > 0 || w.covered(inventory.AdminGates) && len(w.hopGates()) > 0 {
			return nil
		}
		f.Severity = finding.Warn
	}
	f.Observed = fmt.Sprintf("Upgradeable is False, reason %s: %s", c.Reason, strings.Join(strings.Fields(c.Message), " "))
	f.Expected = "Upgradeable that isn't False"
	f.Why = fmt.Sprintf("an update to %s doesn't start until the cause is gone; patches of %s do", w.to(), w.from())
	f.Do = []action.Action{action.ByHand{
		Text: "fix what the condition names, until it is gone", Object: f.Object,
		Look: [][]string{{"oc", "adm", "upgrade"}, {"oc", "get", "clusteroperators"}},
	}}
	f.Evidence = []inventory.Evidence{c.At}
	return []draft{f}
}

// unmanagedLinux is UPDATE002.
func unmanagedLinux(v *view, out *sink) {
	i := slices.IndexFunc(v.inv.Cluster.CSIDrivers, func(c inventory.ClusterCSIDriver) bool { return c.Name == v.D.Provisioner })
	if v.D.Provisioner == "" || i < 0 || v.Hops > 0 && v.Phase != Target {
		return
	}
	c := v.inv.Cluster.CSIDrivers[i]
	if c.Management != "Unmanaged" && c.Management != "Removed" {
		return
	}
	d := draft{
		Severity: finding.Info, Object: "ClusterCSIDriver " + c.Name, When: before, Evidence: []inventory.Evidence{c.At},
		Observed: "managementState: " + c.Management, Expected: "managementState: Managed",
		Why: "its operator leaves the Linux driver where it is: what a release ships doesn't come with the update",
	}
	if v.Hops > 0 {
		d.Severity = finding.Warn
		d.Do = []action.Action{action.ByHand{
			Text:   "set managementState of " + d.Object + " to Managed, or deploy the Windows driver by the Linux DaemonSet that stays",
			Object: d.Object, Look: [][]string{{"oc", "get", "clustercsidriver", c.Name, "-o", "yaml"}},
			Judge: "why somebody took it out of the operator's hands",
		}}
	}
	out.add(d)
}
