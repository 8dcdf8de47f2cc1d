package skew_test

import (
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// refuses gives the ClusterVersion the condition Upgradeable=False.
func refuses(reason string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Conditions = []inventory.Condition{{Type: "Upgradeable", Status: "False", Reason: reason, Message: "pools are\nupdating", At: fact("ClusterVersion version")}}
	}
}

// asksFor are the cluster's admin-gates, and what it was told.
func asksFor(acks []string, keys ...string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.AdminAcks = acks
		for _, key := range keys {
			inv.Cluster.AdminGates = append(inv.Cluster.AdminGates, inventory.AdminGate{Key: key, Message: "look at the removed APIs", At: fact("ConfigMap admin-gates")})
		}
		inv.Read[inventory.AdminGates], inv.Read[inventory.AdminAcks] = inventory.Coverage{Complete: true, Count: 1}, inventory.Coverage{Complete: true, Count: 1}
	}
}

func accepts(inv *inventory.Inventory) { inv.Cluster.Conditions = nil }

func updateCases() []ruleCase {
	const ack = "ack-4.19-anything-in-4.20"
	managed := func(state string) change {
		return func(inv *inventory.Inventory) {
			inv.Cluster.CSIDrivers = []inventory.ClusterCSIDriver{{Name: vsphereName, Management: state, At: fact("ClusterCSIDriver")}}
		}
	}
	told := asksFor([]string{ack}, ack)
	return []ruleCase{
		{name: "refused", id: "UPDATE001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: refuses("PoolUpdating"), want: finding.Block,
			says: "reason PoolUpdating: pools are updating", does: "oc adm upgrade", fix: accepts, count: 1},
		{name: "a patch", id: "UPDATE001", from: "4.19.1", to: "4.19.20", inv: storageCluster("4.19", "10.19.1"), change: refuses("PoolUpdating")},
		{name: "of the first hop alone", id: "UPDATE001", from: "4.19", to: "4.21", inv: storageCluster("4.19", "10.19.1"), change: refuses("PoolUpdating"), want: finding.Block, fix: accepts, count: 1},
		{name: "for an acknowledgement that is named", id: "UPDATE001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: refuses("AdminAckRequired")},
		{name: "for one that isn't", id: "UPDATE001", from: "4.16", to: "4.17", inv: storageCluster("4.16", "10.16.0"), change: refuses("AdminAckRequired"), want: finding.Warn, fix: accepts},
		{name: "it waits", id: "INTREE005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: refuses("AdminAckRequired"), want: finding.Warn,
			says: "the cluster asks for it", does: "ack-4.19-admissionregistration-v1beta1-api-removals-in-4.20", fix: accepts, count: 1},
		{name: "it was asked, and doesn't wait", id: "INTREE005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: func(inv *inventory.Inventory) {
			inv.Cluster.Conditions = []inventory.Condition{{Type: "Upgradeable", Status: "True"}}
		}},
		{name: "its own gate", id: "INTREE005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: asksFor(nil, ack, "ack-4.18-old-in-4.19"), want: finding.Warn,
			says: "the cluster asks for it", does: ack, fix: told, count: 1},
		{name: "its own gate, told", id: "INTREE005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: told},
		{name: "a storage driver's that it doesn't ask for", id: "INTREE005", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: all(unread(inventory.Volumes), asksFor(nil))},

		{name: "managed", id: "UPDATE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: managed("Managed")},
		{name: "not read", id: "UPDATE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "unmanaged", id: "UPDATE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: managed("Unmanaged"), want: finding.Warn,
			says: "managementState: Unmanaged", does: "oc get clustercsidriver/csi.vsphere.vmware.com -o yaml", fix: managed("Managed"), count: 1},
		{name: "a patch with a risk", id: "UPDATE003", from: "4.19", to: "4.20.9", inv: storageCluster("4.19", "10.19.1"), change: offers("4.20.9!", "4.20.5", "4.20.3", "4.19.40", "4.21.1"), want: finding.Warn,
			says: "Recommended=False: WindowsLoses: volumes are lost", does: "take a release without it: --to 4.20.5", fix: offers("4.20.9"), count: 1},
		{name: "every patch has one", id: "UPDATE003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: offers("4.20.9!", "4.20.5!", "4.19.40"), want: finding.Warn,
			says: "WindowsLoses", does: "no release of 4.20 is offered without a known risk in the channel stable-4.19: wait for one", fix: offers("4.20.9!", "4.20.10"), count: 1},
		{name: "the cluster couldn't tell", id: "UPDATE003", from: "4.19", to: "4.20.9", inv: storageCluster("4.19", "10.19.1"), change: offers("4.20.9?"), want: finding.Warn,
			says: "Recommended=Unknown", fix: offers("4.20.9"), count: 1},
		{name: "a later patch has one", id: "UPDATE003", from: "4.19", to: "4.20.5", inv: storageCluster("4.19", "10.19.1"), change: offers("4.20.9!", "4.20.5")},
		{name: "the second hop's", id: "UPDATE003", from: "4.18", to: "4.20.9", inv: storageCluster("4.18", "10.18.1"), change: offers("4.20.9!", "4.19.5")},
		{name: "a paused pool", id: "UPDATE005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: pausedAre(false, true), want: finding.Warn,
			says: "paused: worker", does: "machineconfigpool/worker", fix: pausedAre(false, false), count: 1},
		{name: "paused over two minors", id: "UPDATE005", from: "4.18", to: "4.20", inv: storageCluster("4.18", "10.18.1"), change: pausedAre(false, true)},
		{name: "one of two is paused", id: "UPDATE005", from: "4.18", to: "4.20", inv: storageCluster("4.18", "10.18.1"), change: pausedAre(true, false, true), want: finding.Warn,
			says: "paused: infra, master", fix: pausedAre(false, false, false), count: 1},
		{name: "failing", id: "UPDATE004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: fails("True"), want: finding.Block,
			says: "reason ClusterOperatorDegraded: etcd is degraded", does: "oc get clusteroperators", fix: fails("False"), count: 1},
		{name: "failing, a patch", id: "UPDATE004", from: "4.19.3", to: "4.19.9", inv: storageCluster("4.19", "10.19.1"), change: fails("True"), want: finding.Block, fix: fails("False"), count: 1},
		{name: "failing, and no update", id: "UPDATE004", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: fails("True"), want: finding.Warn, fix: fails("False"), count: 1},
		{name: "failing on the way", id: "UPDATE004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(fails("True"), func(inv *inventory.Inventory) { inv.Cluster.Updating = "4.20.3" })},
		{name: "unmanaged, and no update", id: "UPDATE002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: managed("Unmanaged"), want: finding.Info, count: 1},
	}
}

// offers has the cluster offered releases: with ! behind it one that isn't recommended,
// with ? one of which that isn't known.
func offers(list ...string) change {
	return func(inv *inventory.Inventory) {
		c := &inv.Cluster
		c.Channel, c.Available, c.Conditional = "stable-4.19", nil, nil
		for _, s := range list {
			release := strings.Trim(s, "!?")
			c.Available = append(c.Available, release)
			if release != s {
				c.Conditional = append(c.Conditional, inventory.Risk{Release: release, Names: []string{"WindowsLoses"}, Message: "volumes are lost", Unknown: strings.HasSuffix(s, "?"), At: fact("ClusterVersion")})
			}
		}
	}
}

// fails gives the ClusterVersion's condition Failing a status.
func fails(status string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Conditions = []inventory.Condition{{Type: "Failing", Status: status, Reason: "ClusterOperatorDegraded", Message: "etcd is degraded", At: fact("ClusterVersion")}}
	}
}

// enforces gives the namespace of the Windows driver a level.
func enforces(level string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Namespaces = []inventory.Namespace{{Name: "openshift-cluster-csi-drivers", Enforce: level}}
	}
}

func admissionCases() []ruleCase {
	taint := func(i ...int) change {
		return onNodes(func(n *inventory.Node) {
			n.Taints = append(n.Taints, inventory.Taint{Key: "os", Value: "Windows", Effect: "NoSchedule"})
		}, i...)
	}
	tolerates := onWindows(func(d *inventory.Driver) {
		d.Scheduling.Tolerations = []inventory.Toleration{{Key: "os", Operator: "Exists"}}
	})
	return []ruleCase{
		{name: "privileged", id: "POLICY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: enforces("privileged")},
		{name: "no level", id: "POLICY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: enforces("")},
		{name: "pipes", id: "POLICY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: enforces("baseline"), want: finding.Block,
			says: "enforces the Pod Security level baseline", does: "oc label namespace/openshift-cluster-csi-drivers pod-security.kubernetes.io/enforce=privileged", fix: enforces("privileged"), count: 1},
		{name: "pods stay", id: "POLICY001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(enforces("restricted"), onWindows(hostProcess)), want: finding.Warn,
			says: "restricted", fix: enforces("privileged"), count: 1},
		{name: "pods are missing", id: "POLICY001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(enforces("restricted"), onWindows(func(d *inventory.Driver) { d.Rollout.Ready = 0 })), want: finding.Block,
			fix: enforces("privileged"), count: 1},

		{name: "tolerated", id: "NODE004", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(taint(), tolerates)},
		{name: "WMCO's taint", id: "NODE004", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: taint(), want: finding.Warn,
			says: "os=Windows:NoSchedule of win-0, win-1, win-2", does: "toleration operator: Exists", fix: tolerates, count: 1},
		{name: "one node, and nobody needs it there", id: "NODE004", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: taint(2), want: finding.Info, says: "win-2", count: 1},
		{name: "another DaemonSet is there", id: "NODE004", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(taint(), func(inv *inventory.Inventory) {
			other := vsphere("v3.3.0")
			other.Object.Name, other.Scheduling.Tolerations = "other", []inventory.Toleration{{Operator: "Exists"}}
			inv.Drivers = append(inv.Drivers, other)
		})},
	}
}

// pausedAre are master, worker and infra, paused or not.
func pausedAre(paused ...bool) func(*inventory.Inventory) {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Pools = nil
		for i, p := range paused {
			inv.Cluster.Pools = append(inv.Cluster.Pools, inventory.Pool{Name: []string{"master", "worker", "infra"}[i], Paused: p, At: inventory.Evidence{Where: "spec.paused"}})
		}
	}
}
