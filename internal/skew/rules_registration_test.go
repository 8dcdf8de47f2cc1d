package skew_test

import (
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

func registeredCases() []ruleCase {
	csiVolume := uses(inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: vsphereName})
	waits := uses(inventory.VolumeUse{Volume: "data", Claim: "data", Provisioner: vsphereName})
	return []ruleCase{
		{name: "everywhere", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: csiVolume},
		{name: "two of three nodes, unused", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: registers(nil, 1), want: finding.Warn,
			says: "CSINode of win-1 doesn't list csi.vsphere.vmware.com", does: "logs daemonset/vsphere-windows --all-containers", fix: registers([]string{vsphereName}, 1), count: 1},
		{name: "two of three nodes, and its image is gone", id: "REG001", from: "4.14", to: "4.15", inv: storageCluster("4.14", "9.0.2"), change: all(vsphereFrom("gcr.io/cloud-provider-vsphere/csi/release/driver"), registers(nil, 1)), want: finding.Warn,
			does: "until its CSINode lists the driver; the project's image of v3.0.2 is gone with its registry", fix: registers([]string{vsphereName}, 1), count: 1},
		{name: "two of three nodes, in use there", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(csiVolume, registers(nil, 1)), want: finding.Block,
			says: "Windows pods there use its volumes", does: "oc get csinode/win-1", fix: registers([]string{vsphereName}, 1)},
		{name: "in use elsewhere", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(csiVolume, registers(nil, 2)), want: finding.Warn,
			says: "win-2", fix: registers([]string{vsphereName}, 2)},
		{name: "another driver is registered", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: registers([]string{azureFileName}), want: finding.Warn,
			says: "win-0, win-1, win-2", fix: registers([]string{azureFileName, vsphereName})},
		{name: "out of its reach", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: all(registers(nil), onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector = map[string]string{"storage": "yes"} }))},
		{name: "a CSINode not read", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: noCSINode(1), want: finding.Unknown,
			says: "weren't read", does: "oc get csinodes --all-namespaces -o yaml", fix: func(inv *inventory.Inventory) {
				*inv = *storageCluster("4.19", "10.19.1")
			}},
		{name: "in use beside the pool that has one", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(pooled, narrowed, csiVolume, registers(nil, 1, 2)), want: finding.Block,
			says: "no Windows DaemonSet of it runs there", does: "let DaemonSet openshift-cluster-csi-drivers/vsphere-windows run on these nodes too", fix: all(secondPool, registers([]string{vsphereName})), count: 1},
		{name: "in use, and no DaemonSet", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(csiVolume, noWindows, registers(nil)), want: finding.Block,
			says: "no Windows DaemonSet of it runs there", does: "deploy the Windows DaemonSet of vSphere CSI driver", fix: registers([]string{vsphereName}), count: 1},
		{name: "a pod waits, and no DaemonSet", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(waits, noWindows, registers(nil)), want: finding.Warn,
			says: "Pod shop/web-0 will use its volumes on Windows; no Windows DaemonSet of it runs, and no CSINode of win-0, win-1, win-2 lists it", does: "deploy the Windows DaemonSet of vSphere CSI driver", fix: registers([]string{vsphereName}, 0), count: 1},
		{name: "a pod waits, and one runs without", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(csiVolume, waits, noWindows, registers(nil)), want: finding.Block,
			says: "on win-1 use its volumes", fix: registers([]string{vsphereName}), count: 1},
		{name: "a pod waits for one node of three", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(waits, noWindows, registers(nil, 1, 2))},
		{name: "a pod waits, and a CSINode wasn't read", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(waits, noWindows, registers(nil), noCSINode(1))},
		{name: "a pod waits for the driver that is there", id: "REG001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: waits},
	}
}

func topologyCases() []ruleCase {
	const zone = "topology.csi.vmware.com/k8s-zone"
	keys := func(which ...int) change {
		return func(inv *inventory.Inventory) {
			for _, i := range which {
				inv.CSINodes[i].TopologyKeys = map[string][]string{vsphereName: {zone}}
			}
		}
	}
	label := func(value string, which ...int) change {
		return onNodes(func(n *inventory.Node) { n.Labels[zone] = value }, which...)
	}
	inZone := func(value string) change {
		return uses(inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: vsphereName,
			Affinity: []inventory.Term{{Expressions: []inventory.Expression{{Key: zone, Operator: "In", Values: []string{value}}}}}})
	}
	return []ruleCase{
		{name: "no topology", id: "REG005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "labelled", id: "REG005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(keys(0, 1, 2), label("a"), inZone("a"))},
		{name: "one has lost it", id: "REG005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(keys(0, 1, 2), label("a", 0, 2)), want: finding.Warn,
			says: "the topology keys " + zone + " of it, and win-1 lack that label", does: "spec.nodeName=win-1", fix: label("a", 1), count: 1},
		{name: "none has it, and a volume asks for it", id: "REG005", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(keys(0, 1, 2), inZone("a")), want: finding.Warn,
			says: "win-0, win-1, win-2 lack that label", fix: label("a"), count: 1},
		{name: "a volume in a zone without a Windows node", id: "REG005", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(keys(0, 1, 2), label("a"), inZone("b"), inZone("b")), want: finding.Warn,
			says: "shop/web-0 (volume pv-1), shop/web-1 (volume pv-1)", does: "oc get pv/pv-1", fix: label("b", 2), count: 1},
		{name: "a volume that any of them reaches", id: "REG005", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(label("b", 2), inZone("b"))},
		{name: "an in-tree volume", id: "REG005", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(inZone("b"), func(inv *inventory.Inventory) { inv.Volumes[0].InTree = "kubernetes.io/vsphere-volume" })},
		{name: "not all nodes were read", id: "REG005", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(inZone("b"), func(inv *inventory.Inventory) { inv.Read[inventory.Nodes] = inventory.Coverage{Count: 3} })},
		{name: "nodes without any label", id: "REG005", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(keys(0), inZone("b"), onNodes(func(n *inventory.Node) { n.Labels = nil }, 0))},
	}
}

func doubleDriverCases() []ruleCase {
	second := func(edits ...func(*inventory.Driver)) change {
		return func(inv *inventory.Inventory) {
			d := windowsDriver("vsphere", vsphereName, "v3.3.0", "disk-v1")
			d.Object.Name = "vsphere-second"
			for _, edit := range edits {
				edit(&d)
			}
			inv.Drivers = append(inv.Drivers, d)
		}
	}
	drop := func(inv *inventory.Inventory) { inv.Drivers = inv.Drivers[:len(inv.Drivers)-1] }
	dropFirst := func(inv *inventory.Inventory) {
		inv.Drivers = slices.DeleteFunc(inv.Drivers, func(d inventory.Driver) bool { return d.Object.Name == "vsphere-windows" })
	}
	ready := func(n int32) func(*inventory.Driver) {
		return func(d *inventory.Driver) {
			d.Rollout = &inventory.Rollout{Desired: 3, Ready: n, Updated: 3, Observed: true}
		}
	}
	onLabel := func(d *inventory.Driver) { d.Scheduling.NodeSelector = map[string]string{"pool": "b"} }
	return []ruleCase{
		{name: "one", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "two on the same nodes", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: second(), want: finding.Block,
			says: "both run csi.vsphere.vmware.com on win-0, win-1, win-2", does: "\noc get daemonsets --all-namespaces -o wide", fix: drop, count: 1},
		{name: "the first by name is nearer to Linux", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: second(func(d *inventory.Driver) { d.Version = tagFact("v3.0.0") }), want: finding.Block,
			does: "keep DaemonSet openshift-cluster-csi-drivers/vsphere-windows, which is nearer to the Linux version: delete DaemonSet openshift-cluster-csi-drivers/vsphere-second", fix: drop, count: 1},
		{name: "the second by name is nearer to Linux", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(onWindows(func(d *inventory.Driver) { d.Version = tagFact("v3.0.0") }), second()), want: finding.Block,
			does: "\noc -n openshift-cluster-csi-drivers delete daemonset/vsphere-windows", fix: dropFirst, count: 1},
		{name: "another patch release", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: second(func(d *inventory.Driver) { d.Version = tagFact("v3.3.1") }), want: finding.Block,
			does: "delete daemonset/vsphere-windows", fix: dropFirst, count: 1},
		{name: "the first is of another major", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(onWindows(func(d *inventory.Driver) { d.Version = tagFact("v2.7.0") }), second()), want: finding.Block,
			does: "delete daemonset/vsphere-windows", fix: dropFirst, count: 1},
		{name: "the first has no known version", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(onWindows(func(d *inventory.Driver) { d.Version = tagFact("latest") }), second()), want: finding.Block,
			does: "which is of a known version: delete DaemonSet openshift-cluster-csi-drivers/vsphere-windows", fix: dropFirst, count: 1},
		{name: "the first isn't ready", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(onWindows(ready(0)), second(ready(3))), want: finding.Block,
			does: "which has its pods ready: delete DaemonSet openshift-cluster-csi-drivers/vsphere-windows", fix: dropFirst, count: 1},
		{name: "the first is being deleted", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(onWindows(func(d *inventory.Driver) { d.Deleting = true }), second()), want: finding.Block,
			does: "delete daemonset/vsphere-windows", fix: dropFirst, count: 1},
		{name: "the second has an owner", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: second(func(d *inventory.Driver) { d.Owners = []inventory.Owner{{Manager: "Argo CD"}} }), want: finding.Block,
			does: "which has an owner: delete DaemonSet openshift-cluster-csi-drivers/vsphere-windows", fix: dropFirst, count: 1},
		{name: "the nearer one isn't ready", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(onWindows(ready(0)), second(ready(3), func(d *inventory.Driver) { d.Version = tagFact("v3.0.0") })), want: finding.Block,
			does: "\noc get daemonsets --all-namespaces -o wide", fix: drop, count: 1},
		{name: "two pools", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: second(onLabel)},
		{name: "two drivers", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: second(func(d *inventory.Driver) { d.Provisioner, d.Line = azureFileName, "azure-file" })},
		{name: "no nodes read, same selectors", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(second(), unread(inventory.Nodes)), want: finding.Block,
			says: "choose the same nodes", does: "keep one of", fix: drop},
		{name: "no nodes read, selectors that can't both hold", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: all(onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector = map[string]string{"pool": "a"} }), second(onLabel), unread(inventory.Nodes))},
		{name: "no nodes read, other selectors", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(second(onLabel), unread(inventory.Nodes)), want: finding.Unknown,
			says: "no Windows nodes were read", does: "selectors that don't meet", fix: drop},
		{name: "the operator's is there", id: "REG002", from: "5.0", inv: storageCluster("4.22", "10.22.1"), change: second(func(d *inventory.Driver) { d.OperatorManaged = true }), want: finding.Block,
			does: "delete daemonset/vsphere-windows", fix: dropFirst},
		{name: "an operator's marks on one's own", id: "REG002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: marked, want: finding.Info,
			says: "and OpenShift 4.19 deploys no Windows DaemonSet of csi.vsphere.vmware.com", does: "patch daemonset/vsphere-windows --type=merge", count: 1},
		{name: "an operator's marks on one's own, and the target deploys it", id: "REG002", from: "4.22", to: "5.0", inv: storageCluster("4.22", "10.22.1"), change: marked, want: finding.Warn,
			says: "by the catalog OpenShift 5.0 deploys", fix: noWindows, count: 2},
		{name: "the operator's own, of an update that isn't complete", id: "REG002", to: "5.0", inv: storageCluster("4.22", "10.22.1"), change: all(marked, func(inv *inventory.Inventory) { inv.Cluster.Updating = "5.0.1" })},
		{name: "the target's operator deploys it", id: "REG002", from: "4.22", to: "5.0", inv: storageCluster("4.22", "10.22.1"), want: finding.Warn,
			says: "by the catalog OpenShift 5.0 deploys", does: `rollout status daemonset/"${OPERATORS:?}"`, fix: noWindows, count: 1},
		{name: "the target's operator deploys another", id: "REG002", from: "4.22", to: "5.0", inv: storageCluster("4.22", "10.22.1"),
			change: onlyWindows(windowsDriver("azure-disk", azureDiskName, "v1.33.1", "disk-v1"))},
	}
}

func registrarCases() []ruleCase {
	registrar := func(tag string) change {
		return onWindows(func(d *inventory.Driver) { d.Registrar.Version = tagFact(tag) })
	}
	from := func(repository string) change {
		return onWindows(func(d *inventory.Driver) { d.Registrar.Image.Repository = repository })
	}
	probe := func(command ...string) change {
		return onWindows(func(d *inventory.Driver) { d.Registrar.Probe = command })
	}
	rollout := func(desired, ready int32) change {
		return onWindows(func(d *inventory.Driver) { d.Rollout.Desired, d.Rollout.Ready = desired, ready })
	}
	return []ruleCase{
		{name: "new enough", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: registrar("v1.3.0")},
		{name: "EKS's suffix", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: registrar("v2.13.0-eks-1-33-3")},
		{name: "too old", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: registrar("v1.2.0"), want: finding.Warn,
			says: "node-driver-registrar 1.2.0", does: "set image daemonset/vsphere-windows node-driver-registrar=registry.k8s.io/sig-storage/csi-node-driver-registrar:v1.3.0", fix: registrar("v2.7.0"), count: 1},
		{name: "too old, from EKS", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("v1.2.0"), from("602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/csi-node-driver-registrar")), want: finding.Warn,
			does: "node-driver-registrar=registry.k8s.io/sig-storage/csi-node-driver-registrar:v1.3.0", fix: registrar("v2.7.0"), count: 1},
		{name: "too old, from a mirror", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("v1.2.0"), from("quay.io/acme/registrar")), want: finding.Warn,
			does: "node-driver-registrar=quay.io/acme/registrar:v1.3.0", fix: registrar("v2.7.0"), count: 1},
		{name: "not known", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: registrar("latest"), want: finding.Unknown,
			says: "isn't known", does: "--image-version", fix: registrar("v2.7.0")},
		{name: "a probe in its mode", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: probe("C:\\csi-node-driver-registrar.exe", "--kubelet-registration-path=x", "--mode=kubelet-registration-probe")},
		{name: "a probe without", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: probe("/csi-node-driver-registrar.exe", "--kubelet-registration-path=x"), want: finding.Warn,
			says: "without --mode=kubelet-registration-probe", does: "add --mode=kubelet-registration-probe", fix: probe(), count: 1},
		{name: "a probe that its version lacks", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("v2.2.0"), probe("/csi-node-driver-registrar.exe", "--mode=kubelet-registration-probe")), want: finding.Warn,
			says: "which node-driver-registrar 2.2.0 lacks", does: "csi-node-driver-registrar:v2.3.0", fix: registrar("v2.3.0"), count: 1},
		{name: "too old for its probe and for Windows", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("v1.2.0"), probe("/csi-node-driver-registrar.exe", "--mode=kubelet-registration-probe")), want: finding.Warn,
			says: "which node-driver-registrar 1.2.0 lacks", does: "csi-node-driver-registrar:v2.3.0", fix: registrar("v2.3.0"), count: 1},
		{name: "too old, and its probe without the mode", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("v1.2.0"), probe("/csi-node-driver-registrar.exe")), want: finding.Warn,
			says: "without --mode=kubelet-registration-probe, and is 1.2.0", does: "csi-node-driver-registrar:v2.3.0", fix: all(registrar("v2.3.0"), probe()), count: 1},
		{name: "not known, with a probe", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("latest"), probe("/csi-node-driver-registrar.exe", "--mode=kubelet-registration-probe")), want: finding.Unknown,
			says: "isn't known", does: "--image-version", fix: registrar("v2.7.0"), count: 1},
		{name: "from a mirror", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(registrar("v1.2.0"), onWindows(func(d *inventory.Driver) { d.Registrar.Image.Repository = "mirror.example:5000/csi/registrar" })), want: finding.Warn,
			does: "docker://mirror.example:5000/csi/registrar:v1.3.0\noc -n openshift-cluster-csi-drivers set image daemonset/vsphere-windows node-driver-registrar=mirror.example:5000/csi/registrar:v1.3.0", fix: registrar("v1.3.0"), count: 1},
		{name: "a probe of something else", id: "REG003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: probe("cmd.exe", "/c", "exit 0")},
		{name: "ready", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "one isn't", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: rollout(3, 2), want: finding.Warn,
			says: "2 of 3 pods are ready", does: "rollout status", fix: rollout(3, 3), count: 1},
		{name: "one isn't, OnDelete", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 2), onWindows(func(d *inventory.Driver) { d.Strategy = "OnDelete" })), want: finding.Warn,
			does: "--for=jsonpath='{.status.numberReady}'=3", fix: rollout(3, 3)},
		{name: "the node of one is down", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 2), onNodes(func(n *inventory.Node) { n.Ready = false }, 1)), want: finding.Warn,
			says: "not ready themselves are win-1", does: "bring back win-1, or take out of the cluster what stays away", fix: rollout(3, 3)},
		{name: "one isn't, and its image is gone", id: "REG004", from: "4.14", to: "4.15", inv: storageCluster("4.14", "9.0.2"), change: all(vsphereFrom("gcr.io/cloud-provider-vsphere/csi/release/driver"), rollout(3, 2)), want: finding.Warn,
			says: "2 of 3 pods are ready; the project's image of v3.0.2 is gone with its registry, v3.1.2 is the next", fix: rollout(3, 3), count: 1},
		{name: "one isn't, and a mirror has its image", id: "REG004", from: "4.14", to: "4.15", inv: storageCluster("4.14", "9.0.2"), change: all(vsphereFrom("mirror.example/vsphere"), rollout(3, 2)), want: finding.Warn,
			says: "2 of 3 pods are ready", fix: rollout(3, 3), count: 1},
		{name: "one crashes where its volumes are used", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 2), crashes("win-1"), uses(volumeOn("win-1"))), want: finding.Block,
			says: "2 of 3 pods are ready; on win-1 vsphere-csi-node is in CrashLoopBackOff; Windows pods use its volumes", does: "until it is ready: vsphere-csi-node is in CrashLoopBackOff", fix: all(rollout(3, 3), crashes()), count: 1},
		{name: "one crashes where none is used", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 2), crashes("win-1"), uses(volumeOn("win-2"))), want: finding.Warn,
			says: "on win-1 vsphere-csi-node is in CrashLoopBackOff", fix: all(rollout(3, 3), crashes()), count: 1},
		{name: "all crash, and a pod waits for a node", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 0), crashes("win-0", "win-1", "win-2"), uses(volumeOn("win-2"))), want: finding.Block,
			fix: all(rollout(3, 3), crashes()), count: 1},
		{name: "none is ready, and nothing says why", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 0), uses(volumeOn("win-2"))), want: finding.Block,
			says: "0 of 3 pods are ready", fix: rollout(3, 3), count: 1},
		{name: "none is ready, and none is used", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: rollout(3, 0), want: finding.Warn, fix: rollout(3, 3), count: 1},
		{name: "one crashes on a node that is down", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(rollout(3, 2), crashes("win-1"), uses(volumeOn("win-1")), onNodes(func(n *inventory.Node) { n.Ready = false }, 1)), want: finding.Warn,
			does: "bring back win-1", fix: all(rollout(3, 3), crashes()), count: 1},
		{name: "no node matches", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: rollout(0, 0), want: finding.Info, says: "no node matches it"},
		{name: "a manifest has no status", id: "REG004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: onWindows(func(d *inventory.Driver) { d.Rollout = nil })},
	}
}

// crashes has the driver's container crash on some nodes.
func crashes(nodes ...string) change {
	return onWindows(func(d *inventory.Driver) {
		if d.Broken = nil; len(nodes) > 0 {
			d.Broken = []inventory.Broken{{Container: "vsphere-csi-node", Reason: "CrashLoopBackOff", Nodes: nodes}}
		}
	})
}

func volumeOn(node string) inventory.VolumeUse {
	return inventory.VolumeUse{Node: node, Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: vsphereName, Pod: inventory.Object{Kind: "Pod", Namespace: "shop", Name: "web-0"}}
}

// vsphereFrom gives vSphere's Windows driver the image of v3.0.2 in a repository.
func vsphereFrom(repository string) change {
	const tag = "v3.0.2"
	return onWindows(func(d *inventory.Driver) {
		d.Image = inventory.Image{Reference: repository + ":" + tag, Repository: repository, Tag: tag}
		d.Version = tagFact(tag)
	})
}

func pathCases() []ruleCase {
	const plugin, registry = "c:/var/lib/kubelet/plugins/csi.vsphere.vmware.com", "c:/var/lib/kubelet/plugins_registry"
	at := func(text, node string) *inventory.Path {
		return &inventory.Path{Text: text, Node: node, At: inventory.Evidence{Where: "vsphere.yaml:1", Text: text}}
	}
	right := func(edit func(*inventory.Paths)) change {
		return all(unseen, onWindows(func(d *inventory.Driver) {
			d.Paths = inventory.Paths{
				Endpoint: at(`unix://C:\csi\csi.sock`, plugin+"/csi.sock"), Address: at("/csi/csi.sock", plugin+"/csi.sock"),
				Registered: at(`C:\var\lib\kubelet\plugins\csi.vsphere.vmware.com\csi.sock`, plugin+"/csi.sock"),
				Registry:   at("/registration", registry), Root: at(`C:\var\lib\kubelet`, "c:/var/lib/kubelet"),
				Needed: []inventory.Path{*at(`C:\var\lib\kubelet\plugins_registry\`, registry), *at(`C:\k`, "c:/k")},
			}
			edit(&d.Paths)
		}))
	}
	fixed := right(func(*inventory.Paths) {})
	one := func(name, says, does string, severity finding.Severity, edit func(*inventory.Paths)) ruleCase {
		return ruleCase{name: name, id: "REG006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: right(edit), want: severity, says: says, does: does, fix: fixed, count: 1}
	}
	elsewhere := "c:/var/lib/kubelet/plugins/vsphere/csi.sock"
	return []ruleCase{
		{name: "a Linux DaemonSet for every node", id: "REG007", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: linuxEverywhere(false), want: finding.Warn,
			says: "fit win-0", does: "kubernetes.io/os\":\"linux", fix: linuxEverywhere(true), count: 1},
		{name: "a Windows DaemonSet for every node", id: "REG007", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector = nil }), want: finding.Warn,
			says: "fit Linux nodes", does: "kubernetes.io/os: windows", fix: onWindows(func(d *inventory.Driver) {
				d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "windows"}
			}), count: 1},
		{name: "a Windows DaemonSet for a pool", id: "REG007", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector = map[string]string{"pool": "windows"} })},
		{name: "OpenShift's own", id: "REG007", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(linuxEverywhere(false), func(inv *inventory.Inventory) { inv.Drivers[len(inv.Drivers)-1].OperatorManaged = true })},
		{name: "one place each", id: "REG006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: fixed},
		one("no drive", "a path without a drive", `C:\var\lib\csi.sock`, finding.Block, func(p *inventory.Paths) { p.Registered = at(`\var\lib\csi.sock`, "c:/var/lib/csi.sock") }),
		one("another socket", "on the node "+elsewhere, "be one file of the node", finding.Block, func(p *inventory.Paths) {
			p.Endpoint, p.Address = at("/csi/csi.sock", elsewhere), at("/csi/csi.sock", elsewhere)
		}),
		one("a socket that no volume holds", "which no volume of the node holds", "be one file of the node", finding.Block, func(p *inventory.Paths) { p.Endpoint, p.Address = at("/x/csi.sock", ""), at("/x/csi.sock", "") }),
		one("another address", "the registrar asks /csi/other.sock", "--csi-address is /csi/other.sock", finding.Block, func(p *inventory.Paths) { p.Address = at("/csi/other.sock", plugin+"/other.sock") }),
		one("another registry", "puts its socket into /registration, on the node c:/registration", `mount C:\var\lib\kubelet\plugins_registry`, finding.Block, func(p *inventory.Paths) { p.Registry = at("/registration", "c:/registration") }),
		one("another root", "from c:/kubelet of the node", `mount C:\var\lib\kubelet there`, finding.Block, func(p *inventory.Paths) { p.Root = at(`C:\var\lib\kubelet`, "c:/kubelet") }),
		one("a folder of Linux", "hostPath /dev", "take the volume /dev out", finding.Block, func(p *inventory.Paths) { p.Needed = append(p.Needed, *at("/dev", "c:/dev")) }),
		one("a folder that nobody makes", "hostPath", "the type DirectoryOrCreate", finding.Warn, func(p *inventory.Paths) {
			p.Needed = append(p.Needed, *at(`C:\var\lib\kubelet\plugins\a`, "c:/var/lib/kubelet/plugins/a"))
		}),
		{name: "a manifest that is cut off", id: "REG006", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(right(func(p *inventory.Paths) { p.Address = at("/x", "") }), onWindows(func(d *inventory.Driver) { d.Partial = "cut off" }))},
		{name: "and it is seen to start", id: "REG006", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: onWindows(func(d *inventory.Driver) { d.Paths.Registry = at("/x", "") }), seen: true},
	}
}

// linuxEverywhere adds a Linux DaemonSet that tolerates all, and selects Linux or nothing.
func linuxEverywhere(selects bool) func(*inventory.Inventory) {
	return func(inv *inventory.Inventory) {
		d := inventory.Driver{OS: "linux", Provisioner: "nfs.csi.k8s.io", Object: inventory.Object{Kind: "DaemonSet", Namespace: "nfs", Name: "nfs-node"},
			Scheduling: inventory.Scheduling{Tolerations: []inventory.Toleration{{Operator: "Exists"}}}}
		if selects {
			d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
		}
		inv.Drivers = append(slices.DeleteFunc(slices.Clone(inv.Drivers), func(o inventory.Driver) bool { return o.Object == d.Object }), d)
	}
}
