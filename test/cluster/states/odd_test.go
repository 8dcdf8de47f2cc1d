package states

import (
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
)

// Where the grounds of these states are written.
const (
	tridentWindows     = "https://docs.netapp.com/us-en/trident/trident-get-started/kubernetes-deploy-operator.html"
	nfsOnLinux         = "https://github.com/kubernetes-csi/csi-driver-nfs#readme"
	ecrTags            = "https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html"
	wmcoWindows        = "https://github.com/openshift/windows-machine-config-operator/blob/v10.22.1/docs/wmco-prerequisites.md"
	containerdReleases = "https://github.com/containerd/containerd/blob/main/RELEASES.md"
	conditionalUpdates = "https://github.com/openshift/enhancements/blob/master/enhancements/update/targeted-update-edge-blocking.md"
	proxyPipes         = "https://github.com/kubernetes-csi/csi-proxy/blob/v1.3.0/README.md"
)

const (
	tridentName = "csi.trident.netapp.io"
	nfsName     = "nfs.csi.k8s.io"
)

// trident is NetApp's node plugin, as its operator writes it: through csi-proxy.
func trident(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: "trident", name: "trident-node-windows", container: "trident-main", provisioner: tridentName,
		image: "docker.io/netapp/trident:" + tag, args: []string{"--no_persistence", "--csi_node_name=$(KUBE_NODE_NAME)", "--csi_endpoint=$(CSI_ENDPOINT)", "--csi_role=node"},
		pipes: []string{"filesystem-v1", "volume-v1", "smb-v1"},
	}, options)
}

// vendors is a node plugin that the catalog has no row of.
func vendors(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: "acme-storage", name: "acme-csi-node-windows", container: "driver", provisioner: "block.csi.acme.example",
		image: "registry.acme.example/csi/driver:" + tag, args: []string{"--endpoint=$(CSI_ENDPOINT)"}, hostProcess: true,
	}, options)
}

// oddStates are of clusters that an admin meets at night: half of something done,
// several owners, parts that nobody expected.
func oddStates() []state {
	azure := func(release string, mods ...mod) *cluster { return openshift(release, "Azure", mods...) }
	aws := func(release string, mods ...mod) *cluster { return openshift(release, "AWS", mods...) }
	vs := func(release string, mods ...mod) *cluster { return openshift(release, "VSphere", mods...) }
	paused := change(func(c *cluster) { c.pausedPools = true })
	down := func(nodes ...int) mod {
		return change(func(c *cluster) {
			for _, i := range nodes {
				c.nodes[i].down = true
			}
		})
	}
	ownProxy := change(func(c *cluster) { c.extra = append(c.extra, proxyDaemonSet()) })
	pools := change(func(c *cluster) {
		c.nodes[0].labels, c.nodes[1].labels = map[string]string{"pool": "a"}, map[string]string{"pool": "b"}
	})
	besideLinux := func(list ...driver) mod { return change(func(c *cluster) { c.linux = append(c.linux, list...) }) }
	rolled := func(image string, nodes ...int) option {
		return func(d *driver) { d.stale, d.staleImage = nodes, image }
	}
	return []state{
		{
			name: "azure-disk behind from Helm, azure-file behind from Argo CD", to: "4.20", verdict: finding.Warn,
			cluster: azure("4.19.12", uses(azureDiskName, azureFileName), with(adjusted(azureDiskHost("v1.31.1-windows-hp"), []option{fromHelm}), azureFileHost("v1.30.5-windows-hp", fromArgoCD))),
			why:     "both were behind before; each changes in its owner's source", source: asClose,
		},
		{
			name: "vsphere in the namespace default", to: "4.21", verdict: finding.Pass,
			cluster: vs("4.20.6", namespace("default", nil), uses(vsphereName), with(vsphereHost("v3.5.0", at("default", "vsphere-csi-node-windows")))),
			why:     "no label fixes a level there, OpenShift's own default is privileged, and the pods run", source: labelSyncer,
		},
		{
			name: "ebs on Server 2022 and 2025", to: "5.0", verdict: finding.Pass,
			cluster: aws("4.22.2", eachOn(20348, 26100), uses(ebsName), with(ebs("v1.48.0"))),
			why:     "images of 2022 run on 2025, the pods are ready, and 5.0 ships the same version", source: stableABI,
		},
		{
			name: "azure-disk pipes on Server 2019 and 2022", to: "4.20", verdict: finding.Pass,
			cluster: azure("4.19.12", eachOn(17763, 20348), uses(azureDiskName), with(azureDisk("v1.32.0"))),
			why:     "1.32 and 1.33 have images of both; it falls behind by the update", source: asClose,
		},
		{
			name: "a paused pool, a patch update", to: "4.20.12", verdict: finding.Warn,
			cluster: vs("4.20.6", paused, uses(vsphereName), with(vsphereHost("v3.5.0"))),
			why:     "no driver moves; the pool's nodes don't follow", source: eusUpdates,
		},
		{
			name: "EUS to EUS, gcp-pd on Server 2019", to: "4.18", verdict: finding.Warn,
			cluster: openshift("4.16.30", "GCP", onWindows(17763), paused, namespace("gce-pd-csi-driver", enforces("privileged")), change(func(c *cluster) { c.channel = "eus-4.18" }), uses(gcpName), with(gcp(":v1.13.0"))),
			why:     "WMCO has to be removed before and installed again after", source: eusUpdates,
		},
		{
			name: "ebs from EKS's registry, tag and digest", to: "4.21", verdict: finding.Pass,
			cluster: aws("4.20.6", uses(ebsName), with(ebs("", image("602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-ebs-csi-driver:v1.45.0-eksbuild.2@sha256:"+strings.Repeat("4d", 32))))),
			why:     "the tag names the version, and the digest fixes it", source: ecrTags,
		},
		{
			name: "ebs of Helm's chart, a DaemonSet for each pool, one behind", to: "4.20", verdict: finding.Warn,
			cluster: aws("4.19.12", pools, uses(ebsName), with(ebs("v1.39.0", selecting("pool", "a"), fromHelm), ebs("v1.34.0", at("kube-system", "ebs-csi-node-legacy-windows"), selecting("pool", "b"), fromHelm))),
			why:     "the second one was behind before the update", source: ebsWindows,
		},
		{
			name: "ebs, half of its pods replaced", to: "4.20", verdict: finding.Warn,
			cluster: aws("4.19.12", uses(ebsName), with(ebs("v1.39.0", rolled("public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.34.0", 1)))),
			why:     "one node runs the old version still", source: daemonSets,
		},
		{
			name: "azure-file, half replaced, a node down", verdict: finding.Warn,
			cluster: azure("4.20.6", down(1), uses(azureFileName), with(azureFileHost("v1.33.3-windows-hp", rolled("mcr.microsoft.com/oss/kubernetes-csi/azurefile-csi:v1.32.0-windows-hp", 1)))),
			why:     "the rollout waits for a node that isn't there", source: daemonSets,
		},
		{
			name: "both Windows nodes are down", to: "4.21", verdict: finding.Warn,
			cluster: vs("4.20.6", down(0, 1), uses(vsphereName), with(vsphereHost("v3.5.0"))),
			why:     "bring the nodes back before the update; nothing is said of the driver", source: nodeInfo,
		},
		{
			name: "nodes without WMCO, ebs HostProcess", to: "4.21", verdict: finding.Warn,
			cluster: aws("4.20.6", noWMCO, uses(ebsName), with(host(ebs("v1.45.0"), "--windows-host-process=true"))),
			why:     "containerd 1.7 of the nodes is out of support and vulnerable, and no operator keeps it", source: containerdReleases,
		},
		{
			name: "csi-proxy's DaemonSet beside WMCO's, drivers are HostProcess", to: "4.21", verdict: finding.Warn,
			cluster: vs("4.20.6", ownProxy, uses(vsphereName), with(vsphereHost("v3.5.0"))),
			why:     "two serve the same pipes, though no driver of now dials them", source: proxyPipes,
		},
		{
			name: "csi-proxy's DaemonSet, one node with WMCO and one without", verdict: finding.Warn,
			cluster: vs("4.19.12", ownProxy, change(func(c *cluster) { c.nodes[1].wmco = "" }), uses(vsphereName), with(vsphere("v3.3.1"))),
			why:     "on WMCO's node two serve the pipes, on the other the DaemonSet's is the only one", source: proxyPipes,
		},
		{
			name: "smb through pipes on Server 2022 and 2025", to: "4.19", verdict: finding.Warn,
			cluster: vs("4.18.20", eachOn(20348, 26100), besideLinux(operated("smb-csi-driver-node", smbName)), uses(smbName), with(adjusted(smbPipes("v1.16.0"), []option{tolerating(everything)}))),
			why:     "the driver runs; WMCO lists this Windows on the platform for neither release", source: wmcoWindows,
		},
		{
			name: "a Windows pod with a volume of NFS", to: "4.21", verdict: finding.Block,
			cluster: aws("4.20.6", uses(ebsName, nfsName), with(ebs("v1.45.0")), besideLinux(onLinux(newDriver(driver{namespace: "kube-system", name: "csi-nfs-node", container: "nfs", provisioner: nfsName, image: "registry.k8s.io/sig-storage/nfsplugin:v4.9.0"}, nil), "csi-nfs-node"))),
			why:     "NFS's driver has no Windows node plugin: that pod never gets its volume", source: nfsOnLinux,
		},
		{
			name: "trident, both from NetApp", to: "4.21", verdict: finding.Pass,
			cluster: vs("4.20.6", namespace("trident", enforces("privileged")), besideLinux(onLinux(trident("25.06.0"), "trident-node-linux")), uses(tridentName), with(trident("25.06.0"))),
			why:     "NetApp's operator keeps both sides at one version", source: tridentWindows,
		},
		{
			name: "a vendor's driver beside ebs", to: "4.21", verdict: finding.Unknown,
			cluster: aws("4.20.6", namespace("acme-storage", enforces("privileged")), uses(ebsName, "block.csi.acme.example"), with(ebs("v1.45.0"), vendors("2.4.1"))),
			why:     "nobody but the vendor can tell which node plugin fits", source: asClose,
		},
		{
			name: "in-tree azure-disk and azure-file in use, only one driver, 4.12 to 4.13", to: "4.13", verdict: finding.Block,
			cluster: azure("4.12.60", usesInTree("kubernetes.io/azure-disk", false), usesInTree("kubernetes.io/azure-file", false), with(azureDisk("v1.22.0"))),
			why:     "4.13 serves azure-file's volumes by CSI too, and no node has that driver", source: asClose,
		},
		{
			name: "an update is under way, ebs ahead already", verdict: finding.Warn,
			cluster: aws("4.19.12", change(func(c *cluster) { c.updating = "4.20.6" }), uses(ebsName), with(ebs("v1.45.0"))),
			why:     "wait until it is complete", source: cvoRefuses,
		},
		{
			name: "two DaemonSets that select the same nodes by different labels", to: "4.21", verdict: finding.Block,
			cluster: aws("4.20.6", namespace("storage", enforces("privileged")), uses(ebsName), with(ebs("v1.45.0"), ebs("v1.45.0", at("storage", "windows-csi"), func(d *driver) { d.nodeSelector = map[string]string{"node.openshift.io/os_id": "Windows"} }, image("registry.example.com/mirror/aws-ebs-csi-driver:v1.45.0")))),
			why:     "both register one name on each node", source: twoOfAName,
		},
		{
			name: "the cluster refuses minor updates, and ebs is behind", to: "4.20", verdict: finding.Block,
			cluster: aws("4.19.12", change(func(c *cluster) {
				c.notUpgradeable = [2]string{"MachineConfigPoolDegraded", "Cluster operator machine-config is degraded"}
			}), uses(ebsName), with(ebs("v1.34.0"))),
			why: "Upgradeable=False: nothing starts", source: cvoRefuses,
		},
		{
			name: "WMCO has reached one of two nodes", verdict: finding.Warn,
			cluster: vs("4.20.6", change(func(c *cluster) { c.nodes[1].wmco, c.nodes[1].kubelet = since["4.19"].wmco, since["4.19"].kubelet }), uses(vsphereName), with(vsphereHost("v3.5.0"))),
			why:     "wait until the second node has followed", source: wmcoReadme,
		},
		{
			name: "WMCO has reached one of two nodes, and the next update is asked about", to: "4.21", verdict: finding.Block,
			cluster: vs("4.20.6", change(func(c *cluster) { c.nodes[1].wmco, c.nodes[1].kubelet = since["4.19"].wmco, since["4.19"].kubelet }), uses(vsphereName), with(vsphereHost("v3.5.0"))),
			why:     "4.21 is odd: a kubelet of 1.32 would be two behind it, and the API server's operator refuses the update until WMCO has finished", source: kubeletSkew,
		},
		{
			name: "ebs as upstream's manifests, Linux beside the operator's", to: "4.21", verdict: finding.Warn,
			cluster: aws("4.20.6", besideLinux(onLinux(ebs("v1.50.0"), "ebs-csi-node")), uses(ebsName), with(ebs("v1.50.0"))),
			why:     "two Linux drivers of one name: which of them serves decides what Windows has to fit", source: twoOfAName,
		},
		{
			name: "azure-disk and vsphere's sample on one cluster", to: "4.21", verdict: finding.Warn,
			cluster: azure("4.20.6", uses(azureDiskName), with(azureDiskHost("v1.33.1-windows-hp"), vsphere("v3.3.0", broken))),
			why:     "a driver of another platform: its pods never start, and nobody uses it; take it out", source: nodeInfo,
		},
		{
			name: "vsphere OnDelete, from Flux, HostProcess on the way", to: "4.20", verdict: finding.Warn,
			cluster: vs("4.19.12", uses(vsphereName), with(vsphere("v3.3.1", fromFlux, func(d *driver) { d.onDelete = true }))),
			why:     "4.20 needs the other kind of pod, Flux's source is where it changes", source: hostOnly,
		},
		{
			name: "azure-file tolerates nothing, equal, on a pool of its own", to: "4.21", verdict: finding.Block,
			cluster: azure("4.20.6", uses(azureFileName), with(azureFileHost("v1.33.3-windows-hp", tolerating(upstreamOS)), azureDiskHost("v1.33.1-windows-hp"))),
			why:     "WMCO taints its nodes: azure-file's pods run on none, and a pod waits for its volume", source: wmcoTaint,
		},
		{
			name: "three drivers, each behind, EUS to EUS", to: "4.20", verdict: finding.Warn,
			cluster: azure("4.18.20", paused, change(func(c *cluster) { c.channel = "eus-4.20" }), besideLinux(operated("smb-csi-driver-node", smbName)), uses(azureDiskName, azureFileName, smbName),
				with(azureDiskHost("v1.30.0-windows-hp"), azureFileHost("v1.30.1-windows-hp"), adjusted(smbPipes("v1.15.0"), []option{tolerating(everything)}))),
			why: "two were behind before, and WMCO has to go and come back", source: eusUpdates,
		},
		{
			name: "vsphere, paused by a node selector", to: "4.21", verdict: finding.Block,
			cluster: vs("4.20.6", uses(vsphereName), with(vsphereHost("v3.5.0", selecting("paused", "true")))),
			why:     "no node has that label, so the driver runs nowhere, and a pod uses its volume", source: daemonSets,
		},
		{
			name: "only releases with known risks are offered", to: "4.21", verdict: finding.Warn,
			cluster: vs("4.20.6", change(func(c *cluster) { c.offered, c.risky = []string{"4.20.9"}, []string{"4.21.9"} }), uses(vsphereName), with(vsphereHost("v3.5.0"))),
			why:     "the update is refused until a person takes the risks", source: conditionalUpdates,
		},
		{
			name: "an update is under way, and the one after it is asked about", to: "4.21", verdict: finding.Warn,
			cluster: aws("4.19.12", change(func(c *cluster) { c.updating = "4.20.6" }), uses(ebsName), with(ebs("v1.45.0"))),
			why:     "wait until it is complete", source: cvoRefuses,
		},
		{
			name: "nothing is for Windows", to: "4.20", verdict: finding.Pass,
			cluster: vs("4.19.12", change(func(c *cluster) { c.nodes, c.wmco = nil, "" }), usesOnLinux(vsphereName)),
			why:     "no node and no driver: no versions can differ", source: daemonSets,
		},
		{
			name: "Windows nodes gone, the drivers left", to: "4.21", verdict: finding.Pass,
			cluster: azure("4.20.6", change(func(c *cluster) { c.nodes, c.wmco = nil, "" }), usesOnLinux(azureDiskName), with(azureDiskHost("v1.29.7-windows-hp"), azureFile("latest"))),
			why:     "no node runs Windows: nothing to lose, and nothing to do before the update", source: daemonSets,
		},
	}
}
