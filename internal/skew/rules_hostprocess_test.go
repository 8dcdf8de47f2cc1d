package skew_test

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// flagged sets the driver's own HostProcess flag; nil takes it away.
func flagged(value ...bool) func(*inventory.Driver) {
	return func(d *inventory.Driver) {
		d.HostProcessFlag, d.HostProcessFlagReason = nil, ""
		for _, v := range value {
			d.HostProcessFlag = &v
		}
	}
}

// foreign gives flags that only other drivers have.
func foreign(flags ...string) change {
	return onWindows(func(d *inventory.Driver) { d.ForeignFlags = flags })
}

// unreadFlag gives the flag with a value that the manifest doesn't hold.
var unreadFlag = onWindows(func(d *inventory.Driver) { d.HostProcessFlagReason = "--enable-windows-host-process=$(HP): not here" })

func hostProcessCases() []ruleCase {
	hp := onWindows(hostProcess)
	both := onWindows(func(d *inventory.Driver) { d.HostProcess = true })
	return []ruleCase{
		{name: "below 3.5.0", id: "HP001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "the tag alone was raised", id: "HP001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: at("v3.5.0"), want: finding.Block,
			says: "Windows 3.5.0, not a HostProcess container and mounts 4 csi-proxy pipes", does: "--for 4.20 --mode hostprocess --out vsphere-4.20-vsphere-windows", fix: hp, count: 1},
		{name: "the tag alone was raised in a copy of the Linux DaemonSet", id: "HP001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(marked, at("v3.5.0")), want: finding.Block,
			says: "Windows 3.5.0, not a HostProcess container", fix: hp, count: 1},
		{name: "and back again", id: "HP001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: at("v3.6.0"), want: finding.Block, says: "3.6.0", fix: at("v3.3.0")},
		{name: "HostProcess", id: "HP001", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(at("v3.5.0"), hp)},
		{name: "not known", id: "HP001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: at("latest"), want: finding.Unknown,
			says: "the Windows version isn't known", does: "below 3.5.0 this manifest stays", fix: at("v3.3.0"), count: 1},
		{name: "a driver that needn't", id: "HP001", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.33.1"))},

		{name: "pipes alone", id: "HP002", from: "4.19", inv: storageCluster("4.19", "10.19.1")},
		{name: "HostProcess alone", id: "HP002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: hp},
		{name: "both", id: "HP002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: both, want: finding.Block,
			says: "disk-v1, filesystem-v1, volume-v1, system-v1alpha1", does: "remove the hostPath volumes csi-proxy-*", fix: hp, count: 1},
		{name: "another container's", id: "HP002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(hp, onWindows(func(d *inventory.Driver) {
			d.Unmounted = []inventory.Pipe{{Group: "disk", Version: "v1", Container: "registrar", At: fact("the registrar's mount")}, {Group: "volume", Version: "v1"}}
		})), want: finding.Block, says: "mounts disk-v1 (in registrar)", does: "remove the hostPath volumes csi-proxy-*",
			fix: onWindows(func(d *inventory.Driver) { d.Unmounted = nil }), count: 1},
		{name: "nobody's", id: "HP002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(hp, onWindows(func(d *inventory.Driver) {
			d.Unmounted = []inventory.Pipe{{Group: "volume", Version: "v1"}}
		}))},
		{name: "not known", id: "HP002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: all(at("latest"), both), want: finding.Block, fix: hp},
	}
}

func vsphereHostProcess(tag string) inventory.Driver {
	d := vsphere(tag)
	hostProcess(&d)
	return d
}

func hostProcessFlagCases() []ruleCase {
	hp := func(flag ...bool) change {
		return onWindows(func(d *inventory.Driver) { hostProcess(d); flagged(flag...)(d) })
	}
	return []ruleCase{
		{name: "pipes without the flag", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0"))},
		{name: "HostProcess with the flag", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: hp(true)},
		{name: "HostProcess without", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: hp(), want: finding.Block,
			says: "a HostProcess pod without --enable-windows-host-process", does: "add --enable-windows-host-process=true to the arguments of container driver", fix: hp(true), count: 1},
		{name: "HostProcess with false", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: hp(false), want: finding.Block,
			says: "--windows-host-process", fix: hp(true)},
		{name: "pipes with the flag", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: onWindows(flagged(true)), want: finding.Block,
			says: "in a pod that isn't HostProcess", does: "remove --windows-host-process", fix: onWindows(flagged()), count: 1},
		{name: "pipes with false", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: onWindows(flagged(false))},
		{name: "a version that lacks it", id: "HP003", from: "4.14", inv: clusterOf("4.14", "9.0.0", ebs("v1.18.0")), change: onWindows(flagged(false)), want: finding.Block,
			says: "with a version that lacks it", does: "from 1.31.0 on", fix: onWindows(flagged()), count: 1},
		{name: "Azure Disk 1.27 takes none and dials csi-proxy", id: "HP003", from: "4.13", inv: clusterOf("4.13", "8.1.0", azureDisk("v1.27.0")), change: hp()},
		{name: "Azure Disk 1.27 with it", id: "HP003", from: "4.13", inv: clusterOf("4.13", "8.1.0", azureDisk("v1.27.0")), change: hp(true), want: finding.Block,
			says: "with a version that lacks it", fix: hp()},
		{name: "not known", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("latest")), change: hp(), want: finding.Unknown,
			says: "of an unknown version", does: "pin the image to a version", fix: all(at("v1.32.0"), hp(true)), count: 1},
		{name: "not known, with it", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("latest")), change: hp(true), want: finding.Unknown,
			says: "of an unknown version", does: "pin the image to a version", fix: at("v1.32.0"), count: 1},
		{name: "another driver's", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: all(hp(), foreign("--enable-windows-host-process")), want: finding.Block,
			says: "--enable-windows-host-process, which is another driver's flag", does: "--windows-host-process=true instead of --enable-windows-host-process", fix: all(hp(true), foreign()), count: 1},
		{name: "another driver's beside its own", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: all(hp(true), foreign("--enable-windows-host-process")), want: finding.Block,
			says: "another driver's", does: "remove --enable-windows-host-process from", fix: foreign(), count: 1},
		{name: "another driver's in a pod with pipes", id: "HP003", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: foreign("--windows-host-process"), want: finding.Block,
			says: "another driver's", does: "remove --windows-host-process from", fix: foreign(), count: 1},
		{name: "another driver's, of a version that isn't known", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("latest")), change: foreign("--windows-host-process"), want: finding.Block,
			says: "another driver's", fix: all(at("v1.32.0"), foreign())},
		{name: "from a ConfigMap", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: all(hp(), unreadFlag), want: finding.Unknown,
			says: "in a HostProcess pod, --enable-windows-host-process=$(HP)", does: "write the value itself into the arguments of container driver", fix: hp(true), count: 1},
		{name: "from a ConfigMap, with pipes", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: unreadFlag, want: finding.Unknown,
			says: "in a pod that isn't HostProcess", fix: onWindows(func(d *inventory.Driver) { d.HostProcessFlagReason = "" }), count: 1},
		{name: "from a ConfigMap, of a version that lacks it", id: "HP003", from: "4.13", inv: clusterOf("4.13", "8.1.0", azureDisk("v1.27.0")), change: all(hp(), unreadFlag), want: finding.Unknown,
			does: "remove the argument", fix: hp(), count: 1},
		{name: "a driver without one", id: "HP003", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: hp()},

		{name: "plain image, pipes", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0"))},
		{name: "the other image, HostProcess", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0-windows-hp")), change: hp(true)},
		{name: "the other image, pipes", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0-windows-hp")), want: finding.Warn,
			says: "tag v1.32.0-windows-hp in a pod that isn't HostProcess", does: "driver=mirror.example/azure-disk:v1.32.0", fix: at("v1.32.0"), count: 1},
		{name: "plain image, HostProcess", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", smb("v1.17.0")), change: hp(true), want: finding.Warn,
			says: "tag v1.17.0 in a HostProcess pod", does: "driver=mirror.example/smb:v1.17.0-windows-hp", fix: at("v1.17.0-windows-hp"), count: 1},
		{name: "a version that knows no HostProcess", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: all(hp(), onWindows(func(d *inventory.Driver) { d.HostProcess, d.Pipes = true, nil })), want: finding.Warn,
			says: "Windows 3.3.0 in a HostProcess pod", does: "apply the project's Windows manifest of v3.3.0 whole, https://", fix: onWindows(func(d *inventory.Driver) { d.HostProcess = false }), count: 1},
		{name: "one image for both", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: hp(true)},
		{name: "a digest doesn't say", id: "HP004", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: all(hp(true), onWindows(func(d *inventory.Driver) { d.Image.Tag = "" }))},
	}
}

func crossingCases() []ruleCase {
	follow := func(r *skew.Request, c *catalog.Catalog) { arrived(r, c) }
	return []ruleCase{
		{name: "vSphere to 4.20", id: "HP005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), want: finding.Warn,
			says: "Linux 3.5.0 (OpenShift 4.20) is of a line for which HostProcess is mandatory", does: "oc replace -f vsphere-4.20-vsphere-windows/08-daemonset.yaml",
			change: onWindows(func(d *inventory.Driver) { d.ServiceAccount = "vsphere-node" }), fix: all(at("v3.5.0"), onWindows(hostProcess)), fixedAsk: follow, count: 1},
		{name: "vSphere to 4.19", id: "HP005", from: "4.18", to: "4.19", inv: storageCluster("4.18", "10.18.0")},
		{name: "at 4.20 still with pipes", id: "HP005", from: "4.20", inv: storageCluster("4.20", "10.20.0"), want: finding.Warn, says: "mandatory", fix: all(at("v3.5.0"), onWindows(hostProcess))},
		{name: "Azure Disk crosses the default", id: "HP005", from: "4.17", to: "4.18", inv: clusterOf("4.17", "10.17.1", azureDisk("v1.29.7")), want: finding.Info,
			says: "HostProcess is default", does: "the present pod goes on working with csi-proxy", fix: all(at("v1.31.1-windows-hp"), onWindows(hostProcess)), fixedAsk: follow, count: 1},
		{name: "and has crossed it", id: "HP005", from: "4.18", to: "4.19", inv: clusterOf("4.18", "10.18.0", azureDisk("v1.31.1"))},
		{name: "EBS never must", id: "HP005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0"))},
		{name: "HostProcess already", id: "HP005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: onWindows(hostProcess)},
		{name: "the Windows version doesn't matter", id: "HP005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: at("latest"), want: finding.Warn, fix: all(at("v3.5.0"), onWindows(hostProcess))},
	}
}
