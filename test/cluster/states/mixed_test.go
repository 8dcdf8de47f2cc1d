package states

import (
	"os"
	"path/filepath"

	"github.com/winbake/winbake/internal/base/finding"
)

// Where the grounds of these states are written.
const (
	azureDiskFile = "https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/v1.33.3/deploy/v1.33.3/csi-azuredisk-node-windows.yaml"
	ebsWindows    = "https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/v1.48.0/charts/aws-ebs-csi-driver/templates/_node-windows.tpl"
	gcpWindows    = "https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/blob/v1.20.0/deploy/kubernetes/base/node_windows/node.yaml"
)

// host makes a driver a HostProcess container with further arguments.
func host(d driver, args ...string) driver {
	d = inHost(d)
	d.args = append(d.args, args...)
	return d
}

// perBuild are two of a driver, each for nodes of one Windows.
func perBuild(first, second driver, builds ...string) mod {
	return func(c *cluster) {
		for i, d := range []driver{first, second} {
			selecting("node.kubernetes.io/windows-build", builds[i])(&d)
			d.name += "-" + []string{"a", "b"}[i]
			d.selector = map[string]string{"app": d.name}
			c.drivers = append(c.drivers, d)
		}
	}
}

// eachOn gives the Windows nodes a build each.
func eachOn(builds ...int) mod {
	names := map[int]string{17763: "10.0.17763", 20348: "10.0.20348", 25398: "10.0.25398", 26100: "10.0.26100"}
	return func(c *cluster) {
		for i := range c.nodes {
			labels := map[string]string{"node.kubernetes.io/windows-build": names[builds[i]]}
			for k, v := range c.nodes[i].labels {
				labels[k] = v
			}
			c.nodes[i].build, c.nodes[i].labels = builds[i], labels
		}
	}
}

// mixedStates are of clusters with more than one of something: drivers, Windows builds,
// owners, platforms' habits.
func mixedStates() []state {
	azure := func(release string, mods ...mod) *cluster { return openshift(release, "Azure", mods...) }
	aws := func(release string, mods ...mod) *cluster { return openshift(release, "AWS", mods...) }
	gcpOn := func(release string, mods ...mod) *cluster { return openshift(release, "GCP", mods...) }
	vs := func(release string, mods ...mod) *cluster { return openshift(release, "VSphere", mods...) }
	smbOperator := change(func(c *cluster) { c.linux = append(c.linux, operated("smb-csi-driver-node", smbName)) })
	paused := change(func(c *cluster) { c.pausedPools, c.channel = true, "eus-4.18" })
	brought := vsphereHost("v3.7.1", at(drivers, "vmware-vsphere-csi-driver-windows-node"), func(d *driver) { d.operated = true })
	here, err := os.Getwd() // a plan's script runs in another folder
	if err != nil {
		panic(err)
	}
	managed := filepath.Join(here, "testdata", "managed.yaml")
	return []state{
		{
			name: "azure-disk HostProcess, equal", cluster: azure("4.17.30", uses(azureDiskName), with(azureDiskHost("v1.29.7-windows-hp"))), to: "4.18",
			verdict: finding.Pass,
			why:     "falls behind by the update and follows after it", source: azureDiskFile,
		},
		{
			name: "azure-disk through pipes, equal to a late patch of 4.13", cluster: azure("4.13.50", uses(azureDiskName), acked("ack-4.13-kube-1.27-api-removals-in-4.14"), with(azureDisk("v1.26.7"))), to: "4.14",
			verdict: finding.Pass,
			why:     "4.13.23 and newer ship 1.26.7; both later versions dial the same pipes", source: azureDiskFile,
		},
		{
			name: "azure-disk HostProcess, two minors ahead", cluster: azure("4.19.12", uses(azureDiskName), with(azureDiskHost("v1.34.2-windows-hp"))), to: "4.20",
			verdict: finding.Pass,
			why:     "newer than Linux before and after, running", source: azureDiskFile,
		},
		{
			name: "azure-disk behind, from Helm, no update", cluster: azure("4.20.6", uses(azureDiskName), with(adjusted(azureDiskHost("v1.32.0-windows-hp"), []option{fromHelm}))),
			verdict: finding.Warn,
			why:     "one minor behind what 4.20 ships; the release of Helm is what has to change", source: azureDiskFile,
		},
		{
			name: "azure-disk, a patch update that moves the driver a minor", cluster: azure("4.21.3", uses(azureDiskName), with(azureDiskHost("v1.33.5-windows-hp"))), to: "4.21.12",
			verdict: finding.Pass,
			why:     "equal before; 4.21.8 and newer ship 1.34.2, and Windows follows", source: azureDiskFile,
		},
		{
			name: "azure-disk behind, a patch update that moves nothing", cluster: azure("4.19.12", uses(azureDiskName), with(azureDisk("v1.28.1"))), to: "4.19.30",
			verdict: finding.Warn,
			why:     "four minors behind before and after", source: azureDiskFile,
		},
		{
			name: "ebs HostProcess with its flag, equal", cluster: aws("4.20.6", uses(ebsName), with(host(ebs("v1.45.0"), "--windows-host-process=true"))), to: "4.21",
			verdict: finding.Pass,
			why:     "the flag is there from 1.31 on", source: ebsWindows,
		},
		{
			name: "ebs HostProcess without its flag", cluster: aws("4.20.6", uses(ebsName), with(host(ebs("v1.45.0", broken)))), to: "4.21",
			verdict: finding.Block,
			why:     "without it the driver dials pipes that such a pod has no mount of, and none starts", source: ebsWindows,
		},
		{
			name: "ebs on Server 2019", cluster: aws("4.19.12", onWindows(17763), uses(ebsName), with(ebs("v1.39.0"))), to: "4.20",
			verdict: finding.Pass,
			why:     "1.39 and 1.45 have images for 1809", source: ebsWindows,
		},
		{
			name: "gcp-pd on Server 2019, equal", cluster: gcpOn("4.18.20", onWindows(17763), uses(gcpName), with(gcp(":v1.15.2"))), to: "4.19",
			verdict: finding.Warn,
			why:     "the driver runs; WMCO lists this Windows on the platform for neither release", source: wmcoWindows,
		},
		{
			name: "gcp-pd equal, 4.22 to 5.0", cluster: gcpOn("4.22.2", uses(gcpName), with(gcp(":v1.24.1"))), to: "5.0",
			verdict: finding.Pass,
			why:     "5.0 ships 1.24.1 as 4.22 does", source: gcpWindows,
		},
		{
			name: "gcp-pd on Server 2022, a version without its image", cluster: gcpOn("4.19.12", uses(gcpName), with(gcp(":v1.17.4", broken))), to: "4.20",
			verdict: finding.Block,
			why:     "before 1.18 no image is for 2022: no pod runs, and pods wait for their volumes", source: gcpWindows,
		},
		{
			name: "vsphere equal, 4.14 to 4.15", cluster: vs("4.14.30", uses(vsphereName), with(vsphere("v3.0.2"))), to: "4.15",
			verdict: finding.Warn,
			why:     "both ship 3.0.2, whose image is gone with its registry: a new node can't pull it", source: dialsPipes,
		},
		{
			name: "vsphere, a DaemonSet for each Windows build", cluster: vs("4.18.20", eachOn(17763, 20348), uses(vsphereName), perBuild(vsphere("v3.3.1"), vsphere("v3.3.1"), "10.0.17763", "10.0.20348")), to: "4.19",
			verdict: finding.Warn,
			why:     "the driver runs; WMCO lists this Windows on the platform for neither release", source: wmcoWindows,
		},
		{
			name: "vsphere, a DaemonSet for each Windows build, one behind", cluster: vs("4.18.20", eachOn(17763, 20348), uses(vsphereName), perBuild(vsphere("v3.1.2"), vsphere("v3.3.1"), "10.0.17763", "10.0.20348")), to: "4.19",
			verdict: finding.Warn,
			why:     "one of them is two minors behind before the update", source: twoOfAName,
		},
		{
			name: "azure-disk HostProcess on Server 2022 and 2025", cluster: azure("4.22.2", eachOn(20348, 26100), uses(azureDiskName), with(azureDiskHost("v1.34.2-windows-hp"))), to: "5.0",
			verdict: finding.Pass,
			why:     "a HostProcess image runs on any build", source: stableABI,
		},
		{
			name: "azure-disk through pipes on 23H2, running", cluster: azure("4.19.12", onWindows(25398), uses(azureDiskName), with(azureDisk("v1.32.0"))), to: "4.20",
			verdict: finding.Warn,
			why:     "the driver runs; WMCO lists this Windows on the platform for neither release", source: wmcoWindows,
		},
		{
			name: "smb equal, to a release that no version is known of", cluster: openshift("4.22.2", "None", uses(smbName), smbOperator, with(smbHost("v1.18.0-windows-hp"))), to: "5.0",
			verdict: finding.Unknown,
			why:     "which SMB driver the operator for 5.0 ships is nowhere published yet", source: asClose,
		},
		{
			name: "smb through pipes, 4.16 to 4.17", cluster: openshift("4.16.30", "None", uses(smbName), smbOperator, with(smbPipes("v1.14.0"))), to: "4.17",
			verdict: finding.Pass,
			why:     "equal to what the operator of 4.16 ships", source: asClose,
		},
		{
			name: "smb without a Linux DaemonSet", cluster: openshift("4.18.20", "None", uses(smbName), with(smbPipes("v1.16.0"))), to: "4.19",
			verdict: finding.Pass,
			why:     "equal to what the operator of 4.18 ships, if it comes; a share needs no controller", source: asClose,
		},
		{
			name: "smb that tolerates WMCO's taint", cluster: openshift("4.20.6", "None", uses(smbName), smbOperator, with(smbHost("v1.18.0-windows-hp", tolerating(osWindows)))), to: "4.21",
			verdict: finding.Pass,
			why:     "the toleration takes the nodes of a machine set", source: wmcoTaint,
		},
		{
			name: "EUS to EUS, azure-file equal", cluster: azure("4.16.30", paused, uses(azureFileName), with(azureFile("v1.29.5"))), to: "4.18",
			verdict: finding.Pass,
			why:     "one minor behind at the end, by the update alone", source: eusUpdates,
		},
		{
			name: "EUS to EUS by a paused pool, ebs equal", cluster: aws("4.14.30", change(func(c *cluster) { c.pausedPools = true }), uses(ebsName), with(ebs("v1.18.0"))), to: "4.16",
			verdict: finding.Warn,
			why:     "the first hop leaves it behind and the second again", source: eusUpdates,
		},
		{
			name: "two minors one by one, ebs equal", cluster: aws("4.14.30", uses(ebsName), with(ebs("v1.18.0"))), to: "4.16",
			verdict: finding.Warn,
			why:     "the first update leaves it behind and the second again, if nothing is done in between", source: asClose,
		},
		{
			name: "in-tree azure-file, migrated, HostProcess driver running", cluster: azure("4.20.6", usesInTree("kubernetes.io/azure-file", true), with(azureFileHost("v1.33.3-windows-hp"))), to: "4.21",
			verdict: finding.Pass,
			why:     "every node lists the driver", source: nodeInfo,
		},
		{
			name: "in-tree vsphere, migrated, driver running", cluster: vs("4.17.30", usesInTree("kubernetes.io/vsphere-volume", true), with(vsphere("v3.2.0"))), to: "4.18",
			verdict: finding.Pass,
			why:     "every node lists the driver", source: nodeInfo,
		},
		{
			name: "two drivers, one of them doesn't start", cluster: azure("4.20.6", uses(azureDiskName, azureFileName), with(azureDiskHost("v1.33.1-windows-hp"), azureFileHost("v1.33.3-windows-hp", broken))), to: "4.21",
			verdict: finding.Block,
			why:     "the pods of Azure File run nowhere, and a pod uses a share", source: nodeInfo,
		},
		{
			name: "nodes without WMCO, csi-proxy from a DaemonSet", cluster: vs("4.18.20", noWMCO, uses(vsphereName), with(vsphere("v3.3.1")), change(func(c *cluster) { c.extra = append(c.extra, proxyDaemonSet()) })), to: "4.19",
			verdict: finding.Warn,
			why:     "containerd 1.7 of the nodes is out of support and vulnerable, and no operator keeps it", source: containerdReleases,
		},
		{
			name: "nodes without WMCO, csi-proxy is seen by a mounted volume alone", cluster: vs("4.18.20", noWMCO, uses(vsphereName), with(vsphere("v3.3.1"))), to: "4.19",
			verdict: finding.Warn,
			why:     "a pod runs with a volume that only csi-proxy could mount; containerd 1.7 is out of support, and no operator keeps it", source: dialsPipes,
		},
		{
			name: "kubelets a minor behind, to an odd release", cluster: vs("4.20.6", nodesOf("4.19"), operator("10.19.2"), uses(vsphereName), with(vsphereHost("v3.5.0"))), to: "4.21",
			verdict: finding.Block,
			why:     "two minors behind at 4.21, which allows one", source: kubeletSkew,
		},
		{
			name: "a must-gather of an Azure cluster, all namespaces listed", cluster: azure("4.20.6", uses(azureFileName), with(azureFileHost("v1.33.3-windows-hp"))), to: "4.21", mustGather: true, spaces: true,
			verdict: finding.Pass,
			why:     "equal, and every namespace of the workload is in it", source: mustGathers,
		},
		{
			name: "azure-file OnDelete, half of its pods replaced", cluster: azure("4.20.6", uses(azureFileName), with(azureFileHost("v1.33.3-windows-hp", func(d *driver) {
				d.onDelete, d.stale, d.staleImage = true, []int{1}, "mcr.microsoft.com/oss/kubernetes-csi/azurefile-csi:v1.32.3-windows-hp"
			}))), to: "4.21",
			verdict: finding.Warn,
			why:     "one node runs the former image until its pod is deleted", source: daemonSets,
		},
		{
			name: "azure-file OnDelete, a pod doesn't start", cluster: azure("4.20.6", uses(azureFileName), with(azureFileHost("v1.33.3-windows-hp", running(0), func(d *driver) { d.onDelete = true }))), to: "4.21",
			verdict: finding.Warn,
			why:     "pods with volumes can't start on the other node, which has none yet; oc rollout status takes no OnDelete DaemonSet", source: daemonSets,
		},
		{
			name: "a paused pool, one minor", cluster: aws("4.19.12", change(func(c *cluster) { c.pausedPools = true }), uses(ebsName), with(ebs("v1.39.0"))), to: "4.20",
			verdict: finding.Warn,
			why:     "the driver is equal; the pool's nodes don't follow", source: eusUpdates,
		},
		{
			name: "vsphere ahead by a patch", cluster: vs("4.20.6", uses(vsphereName), with(vsphereHost("v3.5.1"))), to: "4.21",
			verdict: finding.Pass,
			why:     "the same minor as Linux", source: asClose,
		},
		{
			name: "azure-disk HostProcess of 4.12", cluster: azure("4.12.60", acked("ack-4.12-kube-1.26-api-removals-in-4.13"), uses(azureDiskName), with(azureDiskHost("v1.22.0-windows-hp"))), to: "4.13",
			verdict: finding.Warn,
			why:     "1.22 dials csi-proxy as a HostProcess container too, and WMCO 8.0 ships none: only 8.1 will do", source: wmcoReadme,
		},
		{
			name: "ebs equal on 5.0, no update", cluster: aws("5.0.3", uses(ebsName), with(ebs("v1.48.0"))),
			verdict: finding.Pass,
			why:     "equal", source: ebsWindows,
		},
		{
			name: "azure-file of Argo CD, before an update", cluster: azure("4.17.30", uses(azureFileName), with(azureFile("v1.30.3", fromArgoCD))), to: "4.18",
			verdict: finding.Pass,
			why:     "the same minor on both sides before the update; what follows is changed in its source", source: asClose,
		},
		{
			name: "azure-disk behind, to a release that moves inside", cluster: azure("4.20.6", uses(azureDiskName), with(azureDisk("v1.32.0"))), to: "4.21",
			verdict: finding.Warn,
			why:     "one minor behind before the update", source: azureDiskFile,
		},
		{
			name: "vsphere by hand, and the target's operator brings one", cluster: vs("4.22.2", uses(vsphereName), with(vsphereHost("v3.6.0"))), to: "5.0",
			args: []string{"--catalog", managed}, brings: &brought,
			verdict: finding.Warn,
			why:     "a node takes one driver of a name: one's own hands over when the operator's is there", source: "https://github.com/openshift/enhancements/pull/2072",
		},
		{
			name: "secrets-store, both from the project, Windows behind", cluster: openshift("4.20.6", "None", with(secretsStore("v1.4.8")), change(func(c *cluster) { c.linux = append(c.linux, onLinux(secretsStore("v1.5.2"), "csi-secrets-store")) })), to: "4.21",
			verdict: finding.Warn,
			why:     "one minor behind", source: asClose,
		},
	}
}
