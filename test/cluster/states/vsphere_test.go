package states

import "github.com/winbake/winbake/internal/base/finding"

func vsphereStates() []state {
	on := func(release string, mods ...mod) *cluster {
		return openshift(release, "VSphere", append([]mod{uses(vsphereName)}, mods...)...)
	}
	return []state{
		{
			name: "vsphere equal, and the next release has the same", cluster: on("4.18.20", with(vsphere("v3.3.1"))), to: "4.19",
			verdict: finding.Pass, why: "OpenShift 4.18 and 4.19 both ship 3.3.1: nothing changes for Windows", source: asClose,
		},
		{
			name: "vsphere as in WMCO's sample, on to HostProcess", cluster: on("4.19.12", with(vsphere("v3.3.0"))), to: "4.20",
			verdict: finding.Warn, why: "pods go on working, but the driver that follows Linux 3.5.0 can't be had by a new tag: it is another kind of pod, and has to be prepared", source: hostOnly,
		},
		{
			name: "vsphere equal, and falls behind by the update", cluster: on("4.20.6", with(vsphereHost("v3.5.0"))), to: "4.21",
			verdict: finding.Pass, why: "Windows equals what 4.20 ships; 3.6.0 follows after the update, and nothing has to be done before", source: asClose,
		},
		{
			name: "vsphere equal, no minor between the two releases", cluster: on("4.21.3", with(vsphereHost("v3.6.0"))), to: "4.22",
			verdict: finding.Pass, why: "4.21 and 4.22 ship 3.6.0", source: asClose,
		},
		{
			name: "vsphere equal, to 5.0", cluster: on("4.22.2", with(vsphereHost("v3.6.0"))), to: "5.0",
			verdict: finding.Pass, why: "no release payload of 5.0 has a Windows DaemonSet, a proposal isn't one: the driver stays, and follows to 3.7 after the update", source: "https://github.com/openshift/vmware-vsphere-csi-driver-operator/tree/release-5.0/assets",
		},
		{
			name: "vsphere of WMCO's sample left on 4.20", cluster: on("4.20.6", with(vsphere("v3.3.0"))),
			verdict: finding.Warn, why: "two minors behind, and with the mode that its project dropped; it works, and should follow", source: asClose,
		},
		{
			name: "vsphere of WMCO's sample left on 4.20, to 4.21", cluster: on("4.20.6", with(vsphere("v3.3.0"))), to: "4.21",
			verdict: finding.Warn, why: "behind before the update already", source: asClose,
		},
		{
			name: "vsphere behind before an update that ships the same", cluster: on("4.21.3", with(vsphereHost("v3.5.0"))), to: "4.22",
			verdict: finding.Warn, why: "behind by a minor before the update", source: asClose,
		},
		{
			name: "vsphere equal, no update asked about", cluster: on("4.20.6", with(vsphereHost("v3.5.0"))),
			verdict: finding.Pass, why: "equal, running and registered on both nodes", source: asClose,
		},
		{
			name: "vsphere with the tag alone raised", cluster: on("4.20.6", with(vsphere("v3.5.0", broken))),
			verdict: finding.Block, why: "3.5.0 has no client of csi-proxy: in a container of its own it can't reach a disk, and no pod is ready", source: hostOnly,
		},
		{
			name: "vsphere with the tag alone raised before an update", cluster: on("4.19.12", with(vsphere("v3.5.0", broken))), to: "4.20",
			verdict: finding.Block, why: "the pod can't work, and the update doesn't change that", source: hostOnly,
		},
		{
			name: "vsphere with the whole manifest after the update", cluster: on("4.20.6", with(vsphereHost("v3.5.0"))),
			verdict: finding.Pass, why: "the HostProcess manifest of the version that Linux has, in a namespace whose level is privileged", source: hostOnly,
		},
		{
			name: "vsphere several minors, HostProcess on the way", cluster: on("4.18.20", with(vsphere("v3.3.1"))), to: "4.20",
			verdict: finding.Warn, why: "4.20 needs the other kind of pod", source: hostOnly,
		},
		{
			name: "vsphere two minors, one of them moves the driver", cluster: on("4.20.6", with(vsphereHost("v3.5.0"))), to: "4.22",
			verdict: finding.Pass, why: "it falls behind once, by the first update; 4.22 ships what 4.21 does", source: asClose,
		},
		{
			name: "vsphere on Windows before 4.14", cluster: on("4.13.40", with(vsphere("v3.0.2", broken))),
			verdict: finding.Block, why: "OpenShift turns the driver's Windows support on from 4.14 on; before it the driver serves no Windows node", source: "https://github.com/openshift/vmware-vsphere-csi-driver-operator/blob/release-4.13/assets/vsphere_features_config.yaml",
		},
		{
			name: "vsphere pipes on Server 2025, running", cluster: on("4.22.2", onWindows(26100), with(vsphere("v3.3.1"))), to: "5.0",
			verdict: finding.Warn, why: "pods are ready and registered: images of Server 2022 run on 2025; but the driver is three minors behind already", source: stableABI,
		},
		{
			name: "vsphere HostProcess on Server 2025", cluster: on("4.22.2", onWindows(26100), with(vsphereHost("v3.6.0"))), to: "5.0",
			verdict: finding.Pass, why: "a HostProcess container has no base image to match", source: kep1981,
		},
		{
			name: "vsphere, two DaemonSets on the same nodes", cluster: on("4.20.6", namespace("vmware-system-csi", enforces("privileged")), with(vsphereHost("v3.5.0"), vsphere("v3.3.0", at("vmware-system-csi", "vsphere-csi-node-windows"), broken))),
			verdict: finding.Block, why: "both register one name on one node: the kubelet takes one, and which of them answers changes with each restart", source: twoOfAName,
		},
		{
			name: "vsphere on one of two nodes, pods on the other", cluster: on("4.20.6", with(vsphereHost("v3.5.0", running(0))), change(func(c *cluster) { c.volumes[0].node = 1 })),
			verdict: finding.Block, why: "a pod with a volume runs on a node where the driver isn't registered", source: nodeInfo,
		},
		{
			name: "vsphere without the pipe that registration needs", cluster: on("4.18.20", with(vsphere("v3.3.1", mounting("disk-v1", "filesystem-v1", "volume-v1"), broken))),
			verdict: finding.Block, why: "the driver asks for the BIOS serial number through system-v1alpha1 before it registers", source: dialsPipes,
		},
		{
			name: "vsphere HostProcess that mounts pipes", cluster: on("4.20.6", with(vsphereHost("v3.5.0", mounting("disk-v1", "filesystem-v1", "volume-v1"), broken))),
			verdict: finding.Block, why: "a HostProcess container can't mount a named pipe", source: kep1981,
		},
		{
			name: "vsphere 2.x against 3.x", cluster: on("4.15.20", with(vsphere("v2.7.1", image("gcr.io/cloud-provider-vsphere/csi/release/driver:v2.7.1")))), to: "4.16",
			verdict: finding.Warn, why: "another major before the update already; nothing is known to break", source: "https://github.com/kubernetes-csi/docs/blob/master/book/src/project-policies.md",
		},
		{
			name: "vsphere by digest in a mirror", cluster: on("4.20.6", with(vsphereHost("v3.5.0", image("mirror.example.com:5000/csi-vsphere/driver@sha256:"+digest("vsphere-3.5.0"))))), to: "4.21",
			verdict: finding.Unknown, why: "nothing that was read says which version the digest is", source: wmcoReadme,
		},
		{
			name: "vsphere by digest, and its version given", cluster: on("4.20.6", with(vsphereHost("v3.5.0", image("mirror.example.com:5000/csi-vsphere/driver@sha256:"+digest("vsphere-3.5.0"))))), to: "4.21",
			args:    []string{"--image-version", "sha256:" + digest("vsphere-3.5.0") + "=v3.5.0"},
			verdict: finding.Pass, why: "the version is known, and equal", source: wmcoReadme,
		},
	}
}
