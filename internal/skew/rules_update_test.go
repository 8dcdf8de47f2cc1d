package skew_test

import (
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
			says: "managementState: Unmanaged", does: "oc get clustercsidriver csi.vsphere.vmware.com -o yaml", fix: managed("Managed"), count: 1},
		{name: "unmanaged, and no update", id: "UPDATE002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: managed("Unmanaged"), want: finding.Info, count: 1},
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
			says: "enforces the Pod Security level baseline", does: "oc label namespace openshift-cluster-csi-drivers pod-security.kubernetes.io/enforce=privileged", fix: enforces("privileged"), count: 1},
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
