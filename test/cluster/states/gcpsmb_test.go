package states

import "github.com/winbake/winbake/internal/base/finding"

func gcpStates() []state {
	on := func(release string, mods ...mod) *cluster {
		return openshift(release, "GCP", append([]mod{uses(gcpName), namespace("gce-pd-csi-driver", enforces("privileged"))}, mods...)...)
	}
	return []state{
		{
			name: "gcp-pd equal", cluster: on("4.20.6", with(gcp(":v1.20.0"))), to: "4.21",
			verdict: finding.Pass, why: "equal before the update; it follows to 1.21 after it", source: asClose,
		},
		{
			name: "gcp-pd, the base's image without a tag", cluster: on("4.20.6", with(gcp(""))), to: "4.21",
			verdict: finding.Unknown, why: "no tag is latest, which moves", source: "https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/blob/master/deploy/kubernetes/base/node_windows/node.yaml",
		},
		{
			name: "gcp-pd, the tag of no release", cluster: on("4.20.6", with(gcp(":v999.0.1"))), to: "4.21",
			verdict: finding.Unknown, why: "999 is the project's mark of a test build", source: "https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/tags",
		},
		{
			name: "gcp-pd on Server 2025, running", cluster: on("4.22.2", onWindows(26100), with(gcp(":v1.24.1"))), to: "5.0",
			verdict: finding.Pass, why: "pods are ready and registered; 4.22 and 5.0 ship the same", source: stableABI,
		},
		{
			name: "gcp-pd without an image for Server 2022", cluster: on("4.16.30", with(gcp(":v1.13.0", broken))),
			verdict: finding.Block, why: "images are for Server 2019 alone before 1.18; no pod runs on 2022", source: "https://github.com/kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/blob/v1.13.0/Makefile",
		},
		{
			name: "gcp-pd of a release candidate", cluster: on("4.20.6", with(gcp(":v1.20.0-rc1"))), to: "4.21",
			verdict: finding.Pass, why: "a candidate of the same minor", source: asClose,
		},
	}
}

func smbStates() []state {
	// The operator from OperatorHub has its Linux DaemonSet beside OpenShift's own.
	operator := change(func(c *cluster) { c.linux = append(c.linux, operated("smb-csi-driver-node", smbName)) })
	chart := func(tag string) mod {
		return change(func(c *cluster) { c.linux = append(c.linux, onLinux(smbHost(tag), "csi-smb-node")) })
	}
	on := func(release string, mods ...mod) *cluster {
		return openshift(release, "None", append([]mod{uses(smbName)}, mods...)...)
	}
	return []state{
		{
			name: "smb equal, Linux from the operator", cluster: on("4.19.12", operator, with(smbHost("v1.17.0-windows-hp"))), to: "4.20",
			verdict: finding.Pass, why: "equal to what the operator of 4.19 ships; it follows after the update", source: asClose,
		},
		{
			name: "smb, both from the project", cluster: on("4.20.6", chart("v1.18.0"), with(smbHost("v1.18.0-windows-hp"))), to: "4.21",
			verdict: finding.Pass, why: "OpenShift's update moves neither", source: "https://github.com/kubernetes-csi/csi-driver-smb/tree/master/charts",
		},
		{
			name: "smb, both from the project, Windows behind", cluster: on("4.20.6", chart("v1.18.0"), with(smbPipes("v1.16.0"))), to: "4.21",
			verdict: finding.Warn, why: "two minors behind before the update", source: asClose,
		},
		{
			name: "smb, upstream's manifest as it is", cluster: on("4.20.6", chart("v1.18.0"), with(smbHost("v1.18.0-windows-hp", tolerating(upstreamOS)))),
			verdict: finding.Block, why: "it doesn't tolerate WMCO's taint, runs on no node, and pods need it", source: wmcoTaint,
		},
		{
			name: "smb with csi-proxy's DaemonSet beside WMCO's", cluster: on("4.18.20", operator, with(smbPipes("v1.16.0")), change(func(c *cluster) { c.extra = append(c.extra, proxyDaemonSet()) })),
			verdict: finding.Warn, why: "the chart brings a csi-proxy of its own: two serve the same pipes", source: "https://github.com/kubernetes-csi/csi-driver-smb/blob/master/deploy/v1.18.0/csi-proxy-windows.yaml",
		},
		{
			name: "smb through pipes, equal, on AWS", cluster: openshift("4.18.20", "AWS", uses(smbName), operator, with(smbPipes("v1.16.0"))), to: "4.19",
			verdict: finding.Pass, why: "equal; 1.17 is a HostProcess one by default, and pipes go on working", source: asClose,
		},
		{
			name: "secrets-store, both from the project", cluster: openshift("4.20.6", "None", with(secretsStore("v1.5.2")), change(func(c *cluster) {
				c.linux = append(c.linux, onLinux(secretsStore("v1.5.2"), "csi-secrets-store"))
			})), to: "4.21",
			verdict: finding.Pass, why: "it needs neither pipes nor HostProcess, and OpenShift's update doesn't move it", source: "https://github.com/kubernetes-sigs/secrets-store-csi-driver/tree/main/deploy",
		},
	}
}
