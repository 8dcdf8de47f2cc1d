package skew_test

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

const (
	inTreeVSphere   = "kubernetes.io/vsphere-volume"
	inTreeAzureDisk = "kubernetes.io/azure-disk"
	inTreeAzureFile = "kubernetes.io/azure-file"
	inTreeEBS       = "kubernetes.io/aws-ebs"
)

// azureCluster is a cluster whose Windows driver is Azure File's.
func azureCluster(openshift, wmco string) *inventory.Inventory {
	inv := storageCluster(openshift, wmco)
	inv.Cluster.Platform = "Azure"
	inv.Drivers = nil
	onlyWindows(windowsDriver("azure-file", azureFileName, "v1.25.0", "filesystem-v1", "smb-v1"))(inv)
	registers([]string{azureFileName})(inv)
	return inv
}

func inTreeGateCases() []ruleCase {
	file := inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: azureFileName, InTree: inTreeAzureFile}
	inline := inventory.VolumeUse{Node: "win-1", Volume: "share", Provisioner: azureFileName, InTree: inTreeAzureFile, Inline: true}
	pending := inventory.VolumeUse{Volume: "data", Claim: "shop/data", Provisioner: azureFileName, InTree: inTreeAzureFile}
	vsphere := inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", Provisioner: vsphereName, InTree: inTreeVSphere}
	migrated := func(inv *inventory.Inventory) {
		for i := range inv.CSINodes {
			inv.CSINodes[i].Migrated = []string{inTreeAzureDisk}
		}
	}
	return []ruleCase{
		{name: "nothing in-tree", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0")},
		{name: "driver registered on each node", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: uses(file)},
		{name: "a claim of Azure File", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(file), registers(nil, 1)), want: finding.Block,
			says: "shop/web-0 (claim shop/data); CSINode of win-1 doesn't list file.csi.azure.com", does: " on win-1 (csi-proxy must run there), and wait", fix: registers([]string{azureFileName}, 1), count: 1},
		{name: "no DaemonSet of its driver", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(file), registers(nil, 1), noDrivers), want: finding.Block,
			does: "and wait until each of them lists file.csi.azure.com", fix: registers([]string{azureFileName}, 1), count: 1},
		{name: "an inline volume of Azure File", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(inline), registers(nil, 1)), want: finding.Block,
			says: "inline volume share", does: "and wait until each node lists", fix: noVolumes},
		{name: "Azure File from 4.13, migrated already", id: "INTREE001", from: "4.13", to: "4.14", inv: azureCluster("4.13", "8.1.0"), change: all(uses(file), registers(nil, 1)), want: finding.Block,
			says: "win-1", fix: registers([]string{azureFileName}, 1)},
		{name: "a pending pod", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(pending), registers(nil, 2)), want: finding.Block,
			says: "CSINode of win-2", fix: registers([]string{azureFileName}, 2)},
		{name: "a node that the pod may move to", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(file), registers(nil, 2)), want: finding.Warn,
			says: "CSINode of win-2", fix: registers([]string{azureFileName}, 2), count: 1},
		{name: "CSINode exists, migrated-plugins, no drivers", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"),
			change: all(uses(inventory.VolumeUse{Node: "win-0", Volume: "disk", Claim: "shop/disk", Provisioner: azureDiskName, InTree: inTreeAzureDisk}), migrated, registers([]string{}, 0, 1, 2)),
			want:   finding.Block, says: "CSINode of win-0 doesn't list disk.csi.azure.com", fix: registers([]string{azureDiskName})},
		{name: "still in-tree at the target", id: "INTREE001", from: "4.11", to: "4.12", inv: azureCluster("4.11", "6.0.0"), change: all(uses(file), registers(nil))},
		{name: "a CSINode not read", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(file), noCSINode(1)), want: finding.Unknown,
			says: "weren't read", does: "oc get nodes,csinodes --all-namespaces -o yaml > nodes.yaml", fix: func(inv *inventory.Inventory) { *inv = *azureCluster("4.12", "7.2.0"); uses(file)(inv) }},
		{name: "a Node not read", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"), change: all(uses(file), noNode(1)), want: finding.Unknown,
			says: "the Nodes of win-1 weren't read", does: "oc get nodes,csinodes --all-namespaces -o yaml > nodes.yaml", fix: func(inv *inventory.Inventory) { *inv = *azureCluster("4.12", "7.2.0"); uses(file)(inv) }},
		{name: "a claim that couldn't be followed", id: "INTREE001", from: "4.12", to: "4.13", inv: azureCluster("4.12", "7.2.0"),
			change: uses(inventory.VolumeUse{Node: "win-0", Volume: "data", Claim: "shop/data", Reason: "its claim wasn't read"}), want: finding.Unknown,
			says: "its claim wasn't read", does: "oc get pv,pvc --all-namespaces -o yaml > volumes.yaml", fix: noVolumes},
		{name: "vSphere to 4.14 without a driver", id: "INTREE001", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: all(uses(vsphere), noWindows, registers(nil)), want: finding.Block,
			says: "win-1", does: "bake manifests csi-driver vsphere --for 4.14", fix: registers([]string{vsphereName})},
		{name: "vSphere to 4.14, all done that can be", id: "INTREE001", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: all(uses(vsphere), registers(nil)), want: finding.Warn,
			says: "its Windows DaemonSet is there", does: "before any Windows node is updated", fix: registers([]string{vsphereName})},
	}
}

func inTreeElsewhereCases() []ruleCase {
	ebs := inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: "ebs.csi.aws.com", InTree: inTreeEBS}
	label := func(key string, which ...int) change {
		return onNodes(func(n *inventory.Node) { n.Labels[key] = "true" }, which...)
	}
	unlabel := onNodes(func(n *inventory.Node) {
		delete(n.Labels, "windowsmachineconfig.openshift.io/allow-upgrade")
		delete(n.Labels, "windowsmachineconfig.openshift.io/upgrade-blocked")
	})
	platform := func(p string) change { return func(inv *inventory.Inventory) { inv.Cluster.Platform = p } }
	leftover := func(inv *inventory.Inventory) {
		inv.Leftovers = append(inv.Leftovers, inventory.Leftover{Object: inventory.Object{Kind: "PersistentVolume", Name: "pv-1"}, InTree: inTreeVSphere, Provisioner: vsphereName, At: fact("PersistentVolume pv-1")})
	}
	acked := func(inv *inventory.Inventory) {
		inv.Cluster.AdminAcks = []string{"ack-4.13-kube-127-vsphere-migration-in-4.14"}
	}
	allow, blocked := "windowsmachineconfig.openshift.io/allow-upgrade", "windowsmachineconfig.openshift.io/upgrade-blocked"
	return []ruleCase{
		{name: "EBS from 4.11", id: "INTREE002", from: "4.11", to: "4.12", inv: storageCluster("4.11", "6.0.0"), change: all(platform("AWS"), uses(ebs)), want: finding.Block,
			says: "shop/web-0", does: "copy the data away", fix: noVolumes, count: 1},
		{name: "EBS from 4.12", id: "INTREE002", from: "4.12", to: "4.13", inv: storageCluster("4.12", "7.2.0"), change: all(platform("AWS"), uses(ebs))},
		{name: "no gate twice", id: "INTREE001", from: "4.11", to: "4.12", inv: storageCluster("4.11", "6.0.0"), change: all(platform("AWS"), uses(ebs))},
		{name: "no labels", id: "INTREE003", from: "4.13", to: "4.14", inv: azureCluster("4.13", "8.1.0")},
		{name: "held", id: "INTREE003", from: "4.13", to: "4.14", inv: azureCluster("4.13", "8.1.0"), change: label(blocked, 1), want: finding.Warn,
			says: "upgrade-blocked on win-1", does: "oc get csinode/win-1", fix: label(allow, 1)},
		{name: "one released", id: "INTREE003", from: "4.13", to: "4.14", inv: azureCluster("4.13", "8.1.0"), change: label(allow, 1), want: finding.Info,
			does: "oc label node/win-1 windowsmachineconfig.openshift.io/allow-upgrade-"},
		{name: "all released", id: "INTREE003", from: "4.13", to: "4.14", inv: azureCluster("4.13", "8.1.0"), change: label(allow), want: finding.Warn,
			says: "win-0, win-1, win-2", does: "oc label node/win-0 node/win-1 node/win-2", fix: unlabel},
		{name: "labels from 4.14", id: "INTREE003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: label(blocked, 1), want: finding.Info, says: "upgrade-blocked on win-1"},
		{name: "vSphere at 4.13, staying", id: "INTREE004", from: "4.13", to: "4.13", inv: storageCluster("4.13", "8.1.0"), change: registers(nil), want: finding.Block,
			says: "OpenShift 4.13", does: "delete daemonset/vsphere-windows", fix: noWindows},
		{name: "vSphere at 4.13, on its way", id: "INTREE004", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: registers(nil), want: finding.Warn, fix: noWindows},
		{name: "vSphere at 4.13, and it works", id: "INTREE004", from: "4.13", to: "4.13", inv: storageCluster("4.13", "8.1.0")},
		{name: "vSphere at 4.14", id: "INTREE004", from: "4.14", to: "4.15", inv: storageCluster("4.14", "9.0.0"), change: registers(nil)},
		{name: "gate, in-tree volumes", id: "INTREE005", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: leftover, want: finding.Warn,
			does: `oc -n openshift-config patch configmap/admin-acks --type=merge --patch '{"data":{"ack-4.13-kube-127-vsphere-migration-in-4.14":"true"}}'`, fix: acked},
		{name: "gate, volumes not read", id: "INTREE005", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: unread(inventory.Volumes), want: finding.Warn,
			says: "wasn't read", does: "ack-4.13-kube-127-vsphere-migration-in-4.14", fix: acked, count: 2},
		{name: "gate, nothing in-tree", id: "INTREE005", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), want: finding.Info},
		{name: "gate of another platform", id: "INTREE005", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: all(leftover, platform("Azure")), want: finding.Info, says: "not among", does: "ack-4.13-kube-1.27-api-removals-in-4.14", count: 1},
		{name: "gate of another release", id: "INTREE005", from: "4.16", to: "4.17", inv: storageCluster("4.16", "10.16.0"), change: leftover},
	}
}
