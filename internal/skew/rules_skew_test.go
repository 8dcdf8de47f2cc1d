package skew_test

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

const (
	ebsName = "ebs.csi.aws.com"
	smbName = "smb.csi.k8s.io"
)

// clusterOf is a healthy cluster whose one Windows driver is d, and whose Linux
// driver nobody read: the release tells its version.
func clusterOf(openshift, wmco string, d inventory.Driver) *inventory.Inventory {
	inv := storageCluster(openshift, wmco)
	inv.Cluster.Platform = ""
	inv.Drivers = []inventory.Driver{d}
	registers([]string{d.Provisioner})(inv)
	return inv
}

// onAWS is a cluster whose nodes have registered Amazon's driver alone.
func onAWS(inv *inventory.Inventory) {
	inv.Cluster.Platform = "AWS"
	registers([]string{ebsName})(inv)
}

func ebs(tag string) inventory.Driver {
	return windowsDriver("aws-ebs", ebsName, tag, "disk-v1", "filesystem-v1", "volume-v1")
}

func azureDisk(tag string) inventory.Driver {
	return windowsDriver("azure-disk", azureDiskName, tag, "disk-v1", "filesystem-v1", "volume-v1")
}

func azureFile(tag string) inventory.Driver {
	return windowsDriver("azure-file", azureFileName, tag, "filesystem-v1", "smb-v1")
}

func smb(tag string) inventory.Driver {
	return windowsDriver("smb", smbName, tag, "filesystem-v1", "smb-v1")
}

func vsphere(tag string) inventory.Driver {
	return windowsDriver("vsphere", vsphereName, tag, "disk-v1", "filesystem-v1", "volume-v1", "system-v1alpha1")
}

// at gives the Windows driver another image tag.
func at(tag string) change {
	return onWindows(func(d *inventory.Driver) {
		d.Image.Tag, d.Image.Reference = tag, d.Image.Repository+":"+tag
		d.Version = tagFact(tag)
	})
}

func trident(tag string) inventory.Driver {
	return windowsDriver("trident", "csi.trident.netapp.io", tag, "filesystem-v1", "smb-v1", "volume-v1")
}

// linuxOf adds a Linux DaemonSet that no operator owns.
func linuxOf(line, provisioner, tag string) change {
	return func(inv *inventory.Inventory) {
		d := windowsDriver(line, provisioner, tag)
		d.OS, d.Object.Name = "linux", line+"-linux"
		d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
		inv.Drivers = append(inv.Drivers, d)
	}
}

func labelled(key string) change {
	return onNodes(func(n *inventory.Node) { n.Labels[key] = "a" })
}

// arrived is the time after the update, when a remedy that is due then was done.
func arrived(r *skew.Request, _ *catalog.Catalog) { r.From, r.To = r.To, "" }

func distanceCases() []ruleCase {
	return []ruleCase{
		{name: "calendar versions", id: "SKEW001", from: "4.19", inv: clusterOf("4.19", "10.19.1", trident("25.10.1")), change: linuxOf("trident", "csi.trident.netapp.io", "26.06.0"), want: finding.Warn,
			says: "Linux 26.06.0 (not part of OpenShift's release), Windows 25.10.1: 8 months behind", does: "tridentctl install --windows bring DaemonSet openshift-cluster-csi-drivers/trident-windows to 26.06.0", fix: at("26.06.0"), count: 1},
		{name: "calendar versions", id: "SKEW002", from: "4.19", inv: clusterOf("4.19", "10.19.1", trident("25.10.1")), change: linuxOf("trident", "csi.trident.netapp.io", "26.06.0")},
		{name: "the same minor", id: "SKEW001", from: "4.18", to: "4.19", inv: clusterOf("4.18", "10.18.0", vsphere("v3.3.0")), want: finding.Pass, says: "the same minor"},
		{name: "a patch behind is no distance", id: "SKEW001", from: "4.15", inv: clusterOf("4.15", "10.15.0", azureDisk("v1.29.2-windows-hp")), want: finding.Pass, says: "the same minor"},
		{name: "two behind at the target", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), want: finding.Info,
			says: "Linux 3.5.0 (OpenShift 4.20), Windows 3.3.0: 2 minors behind", does: "do what HP005 asks for: it takes the driver to v3.5.0", fix: all(at("v3.5.0"), onWindows(hostProcess)), fixedAsk: arrived, count: 2},
		{name: "ahead until the update, and behind after it", id: "SKEW001", from: "4.18", to: "4.19", inv: clusterOf("4.18", "10.18.1", ebs("v1.38.0")), want: finding.Info,
			says: "Linux 1.39.0 (OpenShift 4.19), Windows 1.38.0: 1 minor behind", does: "driver=mirror.example/aws-ebs:v1.39.0", fix: at("v1.39.0"), fixedAsk: arrived, count: 2},
		{name: "ahead until the first update, and left behind by the second", id: "SKEW001", from: "4.18", to: "4.20", inv: clusterOf("4.18", "10.18.1", ebs("v1.38.0")), want: finding.Warn,
			says: "Linux 1.45.0 (OpenShift 4.20), Windows 1.38.0: 7 minors behind", fix: at("v1.45.0"), fixedAsk: arrived},
		{name: "left behind a second time", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.38.0")), want: finding.Warn,
			says: "Linux 1.39.0 (OpenShift 4.19), Windows 1.38.0: 1 minor behind", fix: at("v1.45.0"), fixedAsk: arrived},
		{name: "behind on the second hop alone", id: "SKEW001", from: "4.20", to: "4.22", inv: clusterOf("4.20", "10.20.1", azureFile("v1.33.3")), want: finding.Warn,
			says: "Linux 1.35.0 (OpenShift 4.22), Windows 1.33.3: 2 minors behind", fix: at("v1.35.0"), fixedAsk: arrived},
		{name: "behind now", id: "SKEW001", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.30.0")), want: finding.Warn,
			says: "Linux 1.39.0 (OpenShift 4.19), Windows 1.30.0: 9 minors behind", does: "set image daemonset/aws-ebs-windows driver=mirror.example/aws-ebs:v1.39.0", fix: at("v1.39.0"), count: 1},
		{name: "ahead", id: "SKEW001", from: "4.14", inv: clusterOf("4.14", "9.0.0", vsphere("v3.3.0")), want: finding.Info,
			says: "3 minors ahead", does: "nothing has to be done: leave it; the image of v3.0.2 is gone with its registry, v3.1.2 is the next that can be had", fix: at("v3.0.2"), count: 1},
		{name: "ahead of one that can be had", id: "SKEW001", from: "4.16", inv: clusterOf("4.16", "10.16.0", vsphere("v3.3.0")), want: finding.Info,
			says: "ahead", does: "nothing has to be done: leave it, and choose v3.1.2 at its next change", fix: at("v3.1.2"), count: 1},
		{name: "several Linux versions may hold", id: "SKEW001", from: "4.14", inv: clusterOf("4.14", "9.0.0", azureFile("v1.28.1")), want: finding.Warn,
			says: "Linux 1.28.1 or 1.29.5 (OpenShift 4.14), Windows 1.28.1: 1 minor behind, or the same minor", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From = "4.14.10" }},
		{name: "a rebase inside a minor", id: "SKEW001", from: "4.14.20", to: "4.14.30", inv: clusterOf("4.14", "9.0.0", azureFile("v1.28.1")), want: finding.Info,
			says: "Linux 1.29.5 (OpenShift 4.14.30), Windows 1.28.1: 1 minor behind", fix: at("v1.29.5"), fixedAsk: arrived, count: 2},
		{name: "4.22 took its rebase back", id: "SKEW001", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.48.0")), want: finding.Pass, says: "Linux 1.48.0"},
		{name: "an operator from OperatorHub", id: "SKEW001", from: "4.19", inv: clusterOf("4.19", "10.19.1", smb("v1.14.0")), want: finding.Warn,
			says: "3 minors behind", does: "oc get csv --all-namespaces", fix: at("v1.17.0")},
		{name: "ahead of an operator from OperatorHub", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", smb("v1.18.0")), want: finding.Info,
			says: "1 minor ahead", does: "nothing has to be done: leave it, the operator for OpenShift 4.20 brings 1.18.0", fixedAsk: arrived},
		{name: "a Linux driver of the admin's own", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: linuxOf("aws-ebs", ebsName, "v1.39.1"), want: finding.Pass,
			says: "Linux 1.39.1 (not part of OpenShift's release)"},
		{name: "a Linux manifest beside OpenShift's driver", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.36.0")), change: all(linuxOf("aws-ebs", ebsName, "v1.36.0"), noStatus), want: finding.Warn,
			says: "Linux 1.36.0 or 1.39.0 (OpenShift 4.19), Windows 1.36.0: 3 minors behind, or the same minor", fix: func(inv *inventory.Inventory) {
				inv.Drivers[1].Rollout = &inventory.Rollout{Desired: 3, Observed: true}
			}, count: 1},
		{name: "a Linux manifest without a version", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: all(linuxOf("aws-ebs", ebsName, "latest"), noStatus), want: finding.Unknown,
			says: "the Linux side's version isn't known", fix: func(inv *inventory.Inventory) { inv.Drivers[1].Version = tagFact("v1.39.0") }},
		{name: "ahead until the update", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphereHostProcess("v3.5.0")), want: finding.Info,
			says: "2 minors ahead", does: "nothing has to be done: the update to 4.20 takes Linux to 3.5.0, and that ends it", fixedAsk: arrived, count: 2},
		{name: "behind before the update, and after it", id: "SKEW001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.30.0")), want: finding.Warn,
			does: "driver=mirror.example/aws-ebs:v1.45.0", fix: at("v1.45.0"), fixedAsk: arrived, count: 1},
		{name: "one that the target's operator replaces", id: "SKEW001", from: "4.22", to: "5.0", inv: clusterOf("4.22", "10.22.1", vsphereHostProcess("v3.6.0")), want: finding.Pass, count: 1},
		{name: "a driver that the catalog doesn't know", id: "SKEW001", from: "4.19", inv: clusterOf("4.19", "10.19.1", windowsDriver("", "csi.example.com", "v1.2.0")), change: linuxOf("", "csi.example.com", "v1.4.0"), want: finding.Warn,
			says: "2 minors behind", fix: at("v1.4.0")},
		{name: "not known", id: "SKEW001", from: "4.19", inv: clusterOf("4.19", "10.19.1", vsphere("latest"))},
		{name: "another major", id: "SKEW001", from: "4.14", inv: clusterOf("4.14", "9.0.0", vsphere("v2.7.1"))},

		{name: "the same", id: "SKEW002", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0"))},
		{name: "vSphere 2", id: "SKEW002", from: "4.14", inv: clusterOf("4.14", "9.0.0", vsphere("v2.7.1")), want: finding.Warn,
			says: "Linux 3.0.2 (OpenShift 4.14), Windows 2.7.1", does: "set image daemonset/vsphere-windows driver=mirror.example/vsphere:v3.0.2", fix: at("v3.0.2"), count: 1},
		{name: "vSphere 3 until the update", id: "SKEW002", from: "4.12", to: "4.13.20", inv: clusterOf("4.12", "7.2.0", vsphere("v3.0.0")), want: finding.Info,
			says: "Linux 2.6.1 or 2.7.1-rc.1", does: "nothing has to be done: the update to 4.13.20 takes Linux to 3.0.2, and that ends it", fixedAsk: arrived, count: 1},
		{name: "a beta of Azure Disk 2", id: "SKEW002", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v2.0.0-beta.5")), want: finding.Block,
			says: "Windows 2.0.0-beta.5", does: "go back to the 1.x release nearest to the cluster's", fix: at("v1.32.0"), count: 1},
		{name: "not known", id: "SKEW002", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("latest"))},
		{name: "one of the Linux versions is another major", id: "SKEW002", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v2.0.0-beta.5")), know: twoLinux("azure-disk", "4.19", "1.32.0", "2.0.0"), want: finding.Unknown,
			says: "Linux 1.32.0 or 2.0.0", does: "1.x release", fix: at("v1.32.0"), fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From = "4.19.1" }},
	}
}

// twoLinux makes a release ship one version before its patch 5 and another
// from it on.
func twoLinux(driver, minor, before, after string) func(*catalog.Catalog) {
	last, first := 4, 5
	return func(c *catalog.Catalog) {
		c.Release(minor).Drivers[driver] = []catalog.Shipped{
			{Version: before, UntilZ: &last, Certainty: catalog.Range},
			{Version: after, FromZ: &first, Certainty: catalog.Range},
		}
	}
}

func pairCases() []ruleCase {
	return []ruleCase{
		{name: "no such pair", id: "SKEW003", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.30.0"))},
		{name: "EBS at the target", id: "SKEW003", from: "4.17", to: "4.18", inv: clusterOf("4.17", "10.17.1", ebs("v1.26.1")), want: finding.Block,
			says: "Linux 1.34.0 (OpenShift 4.18), Windows 1.26.1", does: "raise the Windows DaemonSet to 1.28.0 or newer", fix: at("v1.32.0"), count: 1},
		{name: "EBS with labelled nodes", id: "SKEW003", from: "4.17", to: "4.18", inv: clusterOf("4.17", "10.17.1", ebs("v1.26.1")), change: labelled("topology.kubernetes.io/zone"), want: finding.Info,
			says: "all Windows nodes carry topology.kubernetes.io/zone", does: "1.28.0", fix: at("v1.28.0"), count: 1},
		{name: "EBS before it", id: "SKEW003", from: "4.16", to: "4.17", inv: clusterOf("4.16", "10.16.1", ebs("v1.26.1"))},
		{name: "the patch decides", id: "SKEW003", from: "4.17", to: "4.18", inv: clusterOf("4.17", "10.17.1", ebs("v1.26.1")), know: twoLinux("aws-ebs", "4.18", "1.32.0", "1.34.0"), want: finding.Unknown,
			says: "Linux 1.32.0 or 1.34.0", does: "--to 4.18.Z", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.To = "4.18.2" }, count: 1},
		{name: "not known", id: "SKEW003", from: "4.17", to: "4.18", inv: clusterOf("4.17", "10.17.1", ebs("latest"))},
	}
}

func versionCases() []ruleCase {
	running := func(digests ...string) change {
		return onWindows(func(d *inventory.Driver) {
			d.Running = nil
			for _, digest := range digests {
				d.Running = append(d.Running, inventory.Running{Image: inventory.Image{Reference: "mirror.example/vsphere@" + digest, Digest: digest}, Nodes: []string{"win-" + digest[len(digest)-1:]}})
			}
		})
	}
	onDelete := onWindows(func(d *inventory.Driver) { d.Strategy, d.Rollout.Updated = "OnDelete", 1 })
	one := func(inv *inventory.Inventory) { inv.Drivers[0].OS = "" }
	return []ruleCase{
		{name: "a template", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureFile("v1.32.3")), change: onWindows(func(d *inventory.Driver) {
			d.Image.Reference, d.Image.Tag, d.Version = "${DRIVER_IMAGE}", "", inventory.VersionFact{Reason: "the image is a template that wasn't rendered"}
		}), want: finding.Unknown, says: "${DRIVER_IMAGE}: the image is a template", does: "render the template first", fix: at("v1.32.3"), count: 1},
		{name: "known", id: "SKEW005", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "latest", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureFile("latest")), want: finding.Unknown,
			says: "it moves", does: "or say which version it is with --image-version mirror.example/azure-file:latest=vX.Y.Z",
			fix: at("v1.32.3"), count: 1},
		{name: "a digest alone", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureFile("latest")), change: onWindows(func(d *inventory.Driver) {
			d.Image.Tag, d.Image.Digest, d.Image.Reference = "", "sha256:02", "mirror.example/azurefile@sha256:02"
		}), want: finding.Unknown,
			says: "mirror.example/azurefile@sha256:02", does: "where nothing tells, set container driver of", fix: at("v1.32.3"), count: 1},
		{name: "a digest that one image runs", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureFile("latest")), change: running("sha256:01"), want: finding.Unknown,
			does: "--image-version sha256:01=vX.Y.Z", fix: onWindows(func(d *inventory.Driver) { d.Version = tagFact("v1.32.3") })},
		{name: "absurd", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v999.0.1")), want: finding.Unknown, says: "absurdly high", fix: at("v1.39.0")},
		{name: "a typo", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureDisk("v.2.0.0-beta.5")), want: finding.Unknown, says: "a dot after the v", fix: at("v1.32.0")},
		{name: "a template", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("${TAG}")), want: finding.Unknown, says: "template", fix: at("v1.39.0")},
		{name: "no provisioner", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: onWindows(func(d *inventory.Driver) { d.Provisioner, d.Line = "", "" }), want: finding.Unknown,
			says: "names its provisioner", does: "path of the driver's socket", fix: onWindows(func(d *inventory.Driver) { d.Provisioner, d.Line = ebsName, "aws-ebs" })},
		{name: "a driver unheard of", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", windowsDriver("", "csi.example.com", "v1.0.0")), want: finding.Unknown,
			says: "the catalog doesn't know csi.example.com", does: "--catalog", fixedAsk: func(_ *skew.Request, c *catalog.Catalog) {
				d := *c.Driver("secrets-store")
				d.Name, d.Provisioner, d.OLM, d.Payload = "example", "csi.example.com", false, "example"
				c.Drivers = append(c.Drivers, d)
			}},
		{name: "before it ran on Windows", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v2.3.0")), want: finding.Unknown,
			says: "no line of vSphere CSI driver for 2.3.0", does: "deploy a released version that runs on Windows", fix: at("v3.3.0")},
		{name: "no operating system", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: one, want: finding.Unknown,
			says: "Linux or Windows", does: "add the node selector kubernetes.io/os", fix: func(inv *inventory.Inventory) { inv.Drivers[0].OS = "windows" }},
		{name: "a Linux driver of the admin's own, untagged", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: linuxOf("aws-ebs", ebsName, "latest"), want: finding.Unknown,
			says: "the Linux side's version isn't known", does: "--image-version mirror.example/aws-ebs:latest=vX.Y.Z", fix: func(inv *inventory.Inventory) { inv.Drivers[1].Version = tagFact("v1.39.0") }},
		{name: "a Linux side that nobody read and nothing tells", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", windowsDriver("trident", "csi.trident.netapp.io", "v25.06.0", "filesystem-v1", "smb-v1", "volume-v1")),
			want: finding.Unknown, says: "the Linux side's version isn't known", does: "daemonsets.yaml", fix: linuxOf("trident", "csi.trident.netapp.io", "v25.06.0")},
		{name: "of another platform, and registered nowhere", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: onAWS,
			want: finding.Warn, says: "OpenShift brings none here", does: "it is of another platform", fix: func(inv *inventory.Inventory) { inv.Drivers = nil }},
		{name: "of another platform, with pods that want it", id: "SKEW005", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: all(onAWS, uses(inventory.VolumeUse{Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: azureDiskName})),
			want: finding.Unknown, says: "OpenShift brings none here", does: "daemonsets.yaml", fix: linuxOf("azure-disk", azureDiskName, "v1.32.0")},

		{name: "an init container was left behind", id: "SKEW006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: beside("v3.0.2"), want: finding.Warn,
			says: "container init has", does: "set image", fix: beside(""), count: 1},
		{name: "one image", id: "SKEW006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: running("sha256:01")},
		{name: "two images", id: "SKEW006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: running("sha256:01", "sha256:02"), want: finding.Warn,
			says: "2 images run", does: "rollout status daemonset/vsphere-windows", fix: running("sha256:02"), count: 1},
		{name: "OnDelete", id: "SKEW006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: onDelete, want: finding.Warn,
			says: "1 of 3 pods are of the current template, the update strategy is OnDelete", does: "controller-revision-hash!=$newest", fix: onWindows(func(d *inventory.Driver) { d.Rollout.Updated = 3 }), count: 1},
		{name: "after an update AFTER001 speaks of rollouts", id: "SKEW006", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: onDelete},
		{name: "and not where SKEW006 does", id: "AFTER001", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(onDelete, running("sha256:01", "sha256:02"))},
	}
}

// beside gives the Windows driver an init container of its image at a tag; "" is its own.
func beside(tag string) change {
	return onWindows(func(d *inventory.Driver) {
		img := d.Image
		if tag != "" {
			img.Tag, img.Reference = tag, img.Repository+":"+tag
		}
		d.Siblings = []inventory.Sibling{{Container: "init", Image: img}}
	})
}
