package skew_test

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

func afterCases() []ruleCase {
	leftover := func(migratedTo string) change {
		return func(inv *inventory.Inventory) {
			inv.Leftovers = []inventory.Leftover{{Object: inventory.Object{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"},
				InTree: inTreeVSphere, Provisioner: vsphereName, MigratedTo: migratedTo, ProvisionedBy: inTreeVSphere, At: fact("PersistentVolumeClaim shop/data")}}
		}
	}
	byHand := func(inv *inventory.Inventory) {
		leftover("")(inv)
		inv.Leftovers[0].ProvisionedBy = ""
	}
	updating := func(to string) change {
		return func(inv *inventory.Inventory) { inv.Cluster.Updating = to }
	}
	rolling := func(updated int32, observed bool) change {
		return onWindows(func(d *inventory.Driver) { d.Rollout.Updated, d.Rollout.Observed = updated, observed })
	}
	vsphere := inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", Provisioner: vsphereName, InTree: inTreeVSphere}
	return []ruleCase{
		{name: "all finished", id: "AFTER001", from: "4.20", inv: storageCluster("4.20", "10.20.0")},
		{name: "before an update it isn't asked", id: "AFTER001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: rolling(1, true)},
		{name: "rolling", id: "AFTER001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: rolling(1, true), want: finding.Warn,
			says: "1 of 3 pods are of the newest revision", does: "rollout status daemonset/vsphere-windows", fix: rolling(3, true), count: 1},
		{name: "not observed", id: "AFTER001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: rolling(3, false), want: finding.Warn,
			says: "older generation", does: "rollout status", fix: rolling(3, true)},
		{name: "half way", id: "AFTER001", inv: storageCluster("4.19", "10.19.1"), change: all(updating("4.20.3"), rolling(1, true)), want: finding.Warn,
			says: "the update from 4.19.30 to 4.20.3 isn't complete", does: "oc adm upgrade", fix: func(inv *inventory.Inventory) { *inv = *storageCluster("4.20", "10.20.0") }, count: 1},
		{name: "half way, and that is the target", id: "AFTER001", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: updating("4.20.3"), want: finding.Warn,
			says: "the update from 4.19.30 to 4.20.3 isn't complete", does: "oc adm upgrade", fix: func(inv *inventory.Inventory) { inv.Cluster.Updating = "" }},
		{name: "half way, and somebody asks for another target", id: "AFTER001", to: "4.21", inv: storageCluster("4.19", "10.19.1"), change: all(updating("4.20.3"), rolling(1, true))},
		{name: "a pool left paused", id: "AFTER001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: pool(true, 1), want: finding.Warn,
			says: "it is paused, and 1 of 3 nodes are at its configuration", does: `oc patch machineconfigpool/worker --type=merge --patch '{"spec":{"paused":false}}'`, fix: pool(false, 1), count: 1},
		{name: "a pool that is paused and has followed", id: "AFTER001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: pool(true, 3)},
		{name: "a pool that is paused, and an update asked about", id: "AFTER001", from: "4.20", to: "4.21", inv: storageCluster("4.20", "10.20.0"), change: pool(true, 1)},
		{name: "WMCO was removed", id: "AFTER004", from: "4.20", inv: storageCluster("4.20", "10.18.0"), change: all(ownWMCO(""), kubelet("v1.31.9")), want: finding.Warn,
			does: "where that is manual; install it again where it was removed)", fix: all(wmco("10.20.0-1a2b3c4"), kubelet("v1.33.5"))},
		{name: "made by hand", id: "AFTER002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: byHand},
		{name: "the code was removed", id: "AFTER002", from: "4.22", inv: storageCluster("4.22", "10.22.1"), change: leftover(""), want: finding.Warn, says: "shop/data", fix: leftover(vsphereName)},
		{name: "half way", id: "AFTER002", inv: storageCluster("4.20", "10.20.0"), change: all(updating("4.21.3"), leftover(""))},
		{name: "nothing in-tree", id: "AFTER002", from: "4.20", inv: storageCluster("4.20", "10.20.0")},
		{name: "migrated", id: "AFTER002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: leftover(vsphereName)},
		{name: "not migrated", id: "AFTER002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: leftover(""), want: finding.Warn,
			says: "shop/data", does: "oc get csidriver/csi.vsphere.vmware.com", fix: leftover(vsphereName), count: 1},
		{name: "in-tree as it should be", id: "AFTER002", from: "4.12", inv: storageCluster("4.12", "7.2.0"), change: leftover("")},
		{name: "driver everywhere", id: "AFTER003", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: uses(vsphere)},
		{name: "node without the driver", id: "AFTER003", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(uses(vsphere), registers(nil, 1)), want: finding.Block,
			says: "CSINode of win-1", does: "and wait until each node lists", fix: registers([]string{vsphereName}, 1)},
		{name: "a node that the pod may move to", id: "AFTER003", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(uses(vsphere), registers(nil, 2)), want: finding.Warn,
			says: "CSINode of win-2", does: "and wait until each node lists", fix: registers([]string{vsphereName}, 2)},
		{name: "a CSINode not read", id: "AFTER003", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(uses(vsphere), noCSINode(1)), want: finding.Unknown,
			says: "weren't read", does: "oc get nodes,csinodes", fix: func(inv *inventory.Inventory) { *inv = *storageCluster("4.20", "10.20.0") }},
		{name: "Windows nodes of the release", id: "AFTER004", from: "4.20", inv: storageCluster("4.20", "10.20.0")},
		{name: "a node on its way", id: "AFTER004", from: "4.20", inv: storageCluster("4.20", "10.20.0"),
			change: onNodes(func(n *inventory.Node) { n.WMCO = "10.19.1-1a2b3c4" }, 0), want: finding.Warn, says: "win-0: configured by WMCO 10.19.1-1a2b3c4, to be configured by 10.20.0-1a2b3c4",
			does: "oc -n openshift-windows-machine-config-operator", fix: wmco("10.20.0-1a2b3c4"), count: 1},
		{name: "WMCO taken out over two minors", id: "AFTER004", from: "4.20", inv: storageCluster("4.20", "10.18.0"),
			change: all(func(inv *inventory.Inventory) { inv.Cluster.WMCO = "" }, onNodes(func(n *inventory.Node) { n.Kubelet = "v1.31.9" })), want: finding.Warn,
			says: "kubelet v1.31.9, the API server is v1.33.4", does: "let WMCO be updated to its release for 4.20", fix: onNodes(func(n *inventory.Node) { n.Kubelet = "v1.33.4" }), count: 1},
	}
}

// pool is MachineConfigPool worker, with three nodes.
func pool(paused bool, updated int) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Pools = []inventory.Pool{{Name: "worker", Paused: paused, Machines: 3, Updated: updated, At: fact("MachineConfigPool worker")}}
	}
}
