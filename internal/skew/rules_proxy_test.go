package skew_test

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

func hostProcess(d *inventory.Driver) {
	d.HostProcess, d.Pipes = true, nil
}

// mounted has a pod use a volume of vSphere's driver on some nodes; it runs, or waits.
func mounted(runs bool, nodes ...int) change {
	return func(inv *inventory.Inventory) {
		for _, i := range nodes {
			inv.Volumes = append(inv.Volumes, inventory.VolumeUse{Pod: inventory.Object{Kind: "Pod", Namespace: "shop", Name: "web"}, Node: inv.Nodes[i].Name, Volume: "data", Claim: "data", PV: "pv", Provisioner: vsphereName, Mounted: runs, At: fact("Pod shop/web")})
		}
	}
}

func proxyAbsentCases() []ruleCase {
	return []ruleCase{
		{name: "WMCO has it", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "WMCO 7.1 has none", id: "PROXY001", from: "4.12", to: "4.12", inv: storageCluster("4.12", "7.1.0"), want: finding.Block,
			says: "WMCO 7.1.0-1a2b3c4 ships no csi-proxy", does: "let WMCO be updated to 7.2.0 or newer (OpenShift 4.12)", fix: wmco("7.2.0-1a2b3c4"), count: 1},
		{name: "WMCO of the target brings one", id: "PROXY001", from: "4.11", to: "4.12", inv: storageCluster("4.11", "6.0.0"), want: finding.Block,
			says: "WMCO 6.0.0-1a2b3c4 ships no csi-proxy", does: "let WMCO be updated to 7.2.0 or newer", fix: wmco("7.2.0-1a2b3c4"), fixedAsk: arrived},
		{name: "HostProcess needs none", id: "PROXY001", from: "4.12", to: "4.12", inv: storageCluster("4.12", "7.1.0"), change: onWindows(hostProcess)},
		{name: "Azure Disk 1.27 dials it from a HostProcess pod", id: "PROXY001", from: "4.12", to: "4.12", inv: clusterOf("4.12", "7.1.0", azureDisk("v1.27.0")), change: onWindows(hostProcess), want: finding.Block,
			says: "version 1.27.0 dials csi-proxy's disk, filesystem, volume though it is a HostProcess container", does: "7.2.0", fix: wmco("7.2.0-1a2b3c4"), count: 1},
		{name: "Azure Disk 1.28 doesn't", id: "PROXY001", from: "4.12", to: "4.12", inv: clusterOf("4.12", "7.1.0", azureDisk("v1.28.0")), change: onWindows(hostProcess)},
		{name: "no node in its reach", id: "PROXY001", from: "4.12", to: "4.12", inv: storageCluster("4.12", "7.1.0"),
			change: onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector = map[string]string{"storage": "yes"} })},
		{name: "scenario C, not yet begun", id: "PROXY001", from: "4.12", to: "4.13", inv: storageCluster("4.12", "7.2.0"), want: finding.Warn,
			says: "8.0.0", does: "WMCO be updated to 8.1.0 or newer", fix: func(inv *inventory.Inventory) { inv.Cluster.WMCO = "8.1.0" }, count: 1},
		{name: "scenario C, half way", id: "PROXY001", from: "4.13", to: "4.14", inv: storageCluster("4.13", "7.2.0"),
			change: func(inv *inventory.Inventory) { inv.Cluster.WMCO = "8.0.1" }, want: finding.Block,
			says: "about to configure win-0, win-1, win-2", does: "8.1.0 or newer", fix: func(inv *inventory.Inventory) { inv.Cluster.WMCO = "8.1.0" }},
		{name: "scenario C, after", id: "PROXY001", from: "4.13", inv: storageCluster("4.13", "8.0.1"), want: finding.Block,
			says: "ships no csi-proxy", does: "8.1.0", fix: wmco("8.1.2-1a2b3c4")},
		{name: "node without WMCO", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: wmco("", 2), want: finding.Unknown,
			says: "on win-2; whether csi-proxy runs there couldn't be told", does: "oc adm node-logs win-2", fix: proxyLog("v1.1.3-34-g5cb6e2d", 2), count: 1},
		{name: "nodes without WMCO, a pod has its volume on each", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: mounted(true, 0, 1, 2)},
		{name: "nodes without WMCO, a pod has its volume on one", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: mounted(true, 0), want: finding.Info, says: "on win-1, win-2; whether csi-proxy"},
		{name: "nodes without WMCO, a pod waits for its volume on another", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: all(mounted(true, 0), mounted(false, 1)), want: finding.Unknown,
			says: "on win-1, win-2; whether csi-proxy", fix: proxyDaemonSet("v1.3.0")},
		{name: "node without WMCO, run by a DaemonSet", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: proxyDaemonSet("v1.2.1")},
		{name: "node without WMCO, log without a version", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: proxyLog("Unknown")},
		{name: "WMCO unheard of", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: wmco("77.1.0-1a2b3c4"), want: finding.Unknown,
			says: "the catalog doesn't know the csi-proxy of WMCO 77.1.0", does: "node-logs", fix: proxyLog("v1.1.3-0-g0211fea")},
		{name: "WMCO unheard of, its services read", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(wmco("77.1.0-1a2b3c4"), services("77.1.0-1a2b3c4", "csi-proxy"))},
		{name: "its services have none", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: services("10.19.1-1a2b3c4", ""), want: finding.Block,
			says: "have no csi-proxy", fix: services("10.19.1-1a2b3c4", "csi-proxy")},
		{name: "six nodes, one finding", id: "PROXY001", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: func(inv *inventory.Inventory) {
			for _, n := range []string{"a", "b", "c", "d"} {
				node := inv.Nodes[0]
				node.Name = n
				inv.Nodes = append(inv.Nodes, node)
			}
		}, want: finding.Unknown, says: "a, b, c, d, win-0 and 2 more", fix: proxyDaemonSet("v1.3.0"), count: 1},
	}
}

func proxyMountsCases() []ruleCase {
	return []ruleCase{
		{name: "fits what it dials", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "vSphere without system", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: onlyWindows(windowsDriver("vsphere", vsphereName, "v3.3.0", "disk-v1", "filesystem-v1", "volume-v1")), want: finding.Block,
			says: "dials csi-proxy's system", does: `mount \\.\pipe\csi-proxy-system-v1alpha1 into container`, fix: onlyWindows(windowsDriver("vsphere", vsphereName, "v3.3.0", "disk-v1", "filesystem-v1", "volume-v1", "system-v1alpha1")), count: 1},
		{name: "vSphere without system, of a version that bake writes", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: onlyWindows(windowsDriver("vsphere", vsphereName, "v3.3.1", "disk-v1", "filesystem-v1", "volume-v1")), want: finding.Block,
			says: "dials csi-proxy's system", does: "bake manifests csi-driver --upgrade-from", fix: onlyWindows(windowsDriver("vsphere", vsphereName, "v3.3.1", "disk-v1", "filesystem-v1", "volume-v1", "system-v1alpha1")), count: 1},
		{name: "no pipe at all", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: onlyWindows(windowsDriver("vsphere", vsphereName, "v3.3.0")), want: finding.Block, says: "mounted: no pipe", does: "volumeMount", fix: onWindows(hostProcess)},
		{name: "the rest of its manifest is missing", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: onWindows(func(d *inventory.Driver) {
				d.Partial, d.Pipes = "mounts the volume \"disk\", which it doesn't declare", nil
			}), want: finding.Unknown,
			says: "mounted: no pipe", does: "give the whole manifest", fix: func(inv *inventory.Inventory) { *inv = *storageCluster("4.19", "10.19.1") }},
		{name: "only the fallback is mounted", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: onlyWindows(windowsDriver("azure-file", azureFileName, "v1.30.3", "filesystem-v1beta1", "smb-v1beta1"))},
		{name: "version that moves", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: onlyWindows(windowsDriver("azure-file", azureFileName, "latest", "filesystem-v1alpha1", "smb-v1alpha1")), want: finding.Unknown, says: "depends on its version", does: "--image-version 'mirror.example/azure-file:latest=vX.Y.Z'",
			fix: onWindows(func(d *inventory.Driver) { d.Version = tagFact("v0.6.0") })},
		{name: "version that moves, and the mounts are those of Linux's", id: "PROXY003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: all(onlyWindows(windowsDriver("azure-file", azureFileName, "latest", "filesystem-v1", "smb-v1")), func(inv *inventory.Inventory) { inv.Cluster.Platform = "Azure" })},
	}
}

// released is the catalog once vSphere 3.8.0 is out.
func released(c *catalog.Catalog) {
	d := c.Driver("vsphere")
	d.Lines[len(d.Lines)-1].Unreleased = false
}

func proxyWMICCases() []ruleCase {
	return []ruleCase{
		{name: "Windows Server 2022", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "Windows Server 2025", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: build(26100), want: finding.Warn,
			says: "runs wmic for the driver on win-0, win-1, win-2", does: "3.8.0", fix: onWindows(func(d *inventory.Driver) { d.Version = tagFact("v3.8.0"); hostProcess(d) }), count: 1},
		{name: "vSphere 3.5 runs it itself", id: "PROXY004", from: "4.22", inv: storageCluster("4.22", "10.22.1"), change: all(build(26100), at("v3.5.0"), onWindows(hostProcess)), want: finding.Warn,
			says: "version 3.5.0 runs wmic itself", does: "vSphere CSI driver 3.8.0 or newer", fix: at("v3.8.0"), count: 1},
		{name: "whatever csi-proxy there is", id: "PROXY004", from: "4.22", inv: storageCluster("4.22", ""), change: all(build(26100), at("v3.7.1"), onWindows(hostProcess), proxyDaemonSet("v1.3.0")), want: finding.Warn, says: "3.7.1", fix: at("v3.8.0")},
		{name: "and is kept off those nodes", id: "PROXY004", from: "4.22", inv: storageCluster("4.22", "10.22.1"), change: all(build(26100), at("v3.5.0"), onWindows(hostProcess)), want: finding.Warn,
			does: "keep the pods off nodes without it by a node selector", fix: onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector["wmic"] = "yes" })},
		{name: "vSphere 3.8 was released", id: "PROXY004", from: "4.22", inv: storageCluster("4.22", "10.22.1"), change: all(build(26100), at("v3.5.0"), onWindows(hostProcess)), know: released, want: finding.Warn,
			does: "3.8.0 or newer, which runs no wmic", fix: at("v3.8.0")},
		{name: "vSphere 3.5 on Windows Server 2022", id: "PROXY004", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(at("v3.5.0"), onWindows(hostProcess))},
		{name: "vSphere 3.5 on a build that isn't known", id: "PROXY004", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(build(0), at("v3.5.0"), onWindows(hostProcess)), want: finding.Unknown,
			says: "if the Windows build is 26100 or newer", does: "kernelVersion", fix: build(20348), count: 1},
		{name: "HostProcess of a version that isn't known", id: "PROXY004", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(build(26100), at("latest"), onWindows(hostProcess)), want: finding.Unknown,
			says: "it may run wmic itself", fix: at("v3.8.0"), count: 1},
		{name: "csi-proxy 1.3.0", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: all(build(26100), proxyDaemonSet("v1.3.0"))},
		{name: "csi-proxy 1.2.1", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: all(build(26100), proxyDaemonSet("v1.2.1")), want: finding.Warn,
			does: "csi-proxy:v1.3.0", fix: all(noProxies, proxyDaemonSet("v1.3.0"))},
		{name: "another driver", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: all(build(26100), onlyWindows(windowsDriver("azure-file", azureFileName, "v1.30.3", "filesystem-v1", "smb-v1")))},
		{name: "build not known", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: build(0), want: finding.Unknown,
			says: "build isn't known", does: "kernelVersion", fix: build(20348)},
		{name: "driver's version not known", id: "PROXY004", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"),
			change: all(build(26100), onWindows(func(d *inventory.Driver) { d.Version = tagFact("latest") })), want: finding.Unknown,
			says: "its version isn't known", does: "3.8.0", fix: onWindows(func(d *inventory.Driver) { d.Version = tagFact("v3.8.0"); hostProcess(d) })},
	}
}

func proxyOwnersCases() []ruleCase {
	return []ruleCase{
		{name: "WMCO alone", id: "PROXY005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "DaemonSet alone", id: "PROXY005", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: proxyDaemonSet("v1.3.0")},
		{name: "both", id: "PROXY005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: proxyDaemonSet("v1.3.0"), want: finding.Warn,
			says: "where WMCO runs it as a service", does: "oc -n kube-system delete daemonset/csi-proxy", fix: noProxies, count: 1},
		{name: "both on one node, alone on others", id: "PROXY005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(proxyDaemonSet("v1.3.0"), wmco("", 0, 2)), want: finding.Warn,
			says: "on win-1, where WMCO runs it as a service", does: "keep DaemonSet kube-system/csi-proxy off win-1, and on win-0, win-2", fix: all(noProxies), count: 1},
		{name: "an old one that some nodes need", id: "PROXY007", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(proxyDaemonSet("v1.1.2"), wmco("", 0)), want: finding.Warn,
			does: "oc -n kube-system set image daemonset/csi-proxy", fix: all(noProxies, proxyDaemonSet("v1.3.0"))},
		{name: "WMCO of the target brings one", id: "PROXY005", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.0.1"), change: proxyDaemonSet("v1.3.0"), want: finding.Warn,
			says: "WMCO for OpenShift 4.14 will run it", does: "delete daemonset/csi-proxy", fix: noProxies},
		{name: "WMCO not known", id: "PROXY005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(wmco("77.0.0-1a2b3c4"), proxyDaemonSet("v1.3.0")), want: finding.Unknown,
			says: "doesn't know WMCO 77.0.0", does: "only if it is\noc -n openshift-windows-machine-config-operator get configmap/windows-services-77.0.0-1a2b3c4 -o", fix: noProxies},
		{name: "WMCO's", id: "PROXY007", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "after the fix by git describe", id: "PROXY007", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: proxyLog("v1.1.3-28-g0939e7a")},
		{name: "before the fix", id: "PROXY007", from: "4.19", to: "4.20", inv: storageCluster("4.19", ""), change: proxyDaemonSet("v1.1.2"), want: finding.Warn,
			says: "CVE-2023-3893", does: ":v1.1.3", fix: all(noProxies, proxyDaemonSet("v1.1.3")), count: 1},
	}
}
