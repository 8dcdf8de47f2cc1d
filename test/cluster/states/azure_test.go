package states

import "github.com/winbake/winbake/internal/base/finding"

func azureStates() []state {
	file := func(release string, mods ...mod) *cluster {
		return openshift(release, "Azure", append([]mod{uses(azureFileName)}, mods...)...)
	}
	disk := func(release string, mods ...mod) *cluster {
		return openshift(release, "Azure", append([]mod{uses(azureDiskName)}, mods...)...)
	}
	return []state{
		{
			name: "azure-file as in WMCO's sample, latest", cluster: file("4.18.20", with(azureFile("", image("mcr.microsoft.com/k8s/csi/azurefile-csi:latest")))), to: "4.19",
			verdict: finding.Unknown, why: "the tag latest moves: which version the nodes run can't be told", source: wmcoSamples,
		},
		{
			name: "azure-file latest, and its version given", cluster: file("4.18.20", with(azureFile("", image("mcr.microsoft.com/k8s/csi/azurefile-csi:latest"), reports("sha256:"+digest("azurefile-1.30.5"))))), to: "4.19",
			args:    []string{"--image-version", "sha256:" + digest("azurefile-1.30.5") + "=v1.30.5"},
			verdict: finding.Pass, why: "the pods run what 4.18 ships; the pipes go on working, and it follows after the update", source: asClose,
		},
		{
			name: "azure-file equal through csi-proxy, default changes", cluster: file("4.17.30", with(azureFile("v1.30.3"))), to: "4.18",
			verdict: finding.Pass, why: "1.30.5 is the same minor; HostProcess is its default, and pipes go on working", source: asClose,
		},
		{
			name: "azure-file HostProcess, equal", cluster: file("4.20.6", with(azureFileHost("v1.33.3-windows-hp"))), to: "4.21",
			verdict: finding.Pass, why: "equal; -windows-hp is a variant of 1.33.3 and no pre-release", source: asClose,
		},
		{
			name: "azure-file, upstream's manifest as it is, with pods that need it", cluster: file("4.20.6", with(azureFileHost("v1.33.3-windows-hp", tolerating(upstreamOS)))),
			verdict: finding.Block, why: "it doesn't tolerate WMCO's taint os=Windows, runs on no node, and pods wait for its volumes", source: wmcoTaint,
		},
		{
			name: "azure-file, upstream's manifest as it is, nobody needs it yet", cluster: openshift("4.20.6", "Azure", usesOnLinux(azureDiskName), with(azureFileHost("v1.33.3-windows-hp", tolerating(upstreamOS)))), spaces: true, mustGather: true,
			verdict: finding.Warn, why: "it runs on no Windows node, for want of a toleration", source: wmcoTaint,
		},
		{
			name: "azure-file, upstream's manifest as it is, before an update", cluster: file("4.19.20", with(azureFileHost("v1.32.3-windows-hp", tolerating(upstreamOS)))), to: "4.20",
			verdict: finding.Block, why: "it runs on no node, and pods wait for its volumes, before the update as after it", source: wmcoTaint,
		},
		{
			name: "azure-file patch update that moves the driver", cluster: file("4.14.24", with(azureFile("v1.28.1"))), to: "4.14.30",
			verdict: finding.Pass, why: "4.14.25 took Linux to 1.29.5; Windows equals what 4.14.24 ships, and follows after the update", source: asClose,
		},
		{
			name: "azure-file one release on", cluster: file("4.14.30", with(azureFile("v1.29.5"))), to: "4.15",
			verdict: finding.Pass, why: "4.15 ships 1.29", source: asClose,
		},
		{
			name: "azure-file behind before", cluster: file("4.16.30", with(azureFile("v1.28.1"))), to: "4.17",
			verdict: finding.Warn, why: "one minor behind before the update, two after it", source: asClose,
		},
		{
			name: "azure-disk with -windows-hp", cluster: disk("4.15.40", with(azureDiskHost("v1.29.2-windows-hp"))), to: "4.16",
			verdict: finding.Pass, why: "1.29.2 against 1.29.0 and 1.29.3", source: asClose,
		},
		{
			name: "azure-disk, a respin", cluster: disk("4.15.40", with(azureDiskHost("v1.29.1.1-windows-hp"))),
			verdict: finding.Pass, why: "Azure's fourth number is a respin of 1.29.1", source: "https://github.com/kubernetes-sigs/azuredisk-csi-driver/tree/master/deploy/v1.29.1",
		},
		{
			name: "azure-disk, a partial tag", cluster: disk("4.15.40", with(azureDisk("1.29"))), to: "4.16",
			verdict: finding.Unknown, why: "1.29 names a line: what it points at moves", source: "https://github.com/opencontainers/distribution-spec/blob/main/spec.md",
		},
		{
			name: "azure-disk, beta of 2.0", cluster: disk("4.15.40", with(azureDisk("v2.0.0-beta.6"))),
			verdict: finding.Block, why: "its node plugin works with objects that no controller of 1.x makes", source: "https://github.com/kubernetes-sigs/azuredisk-csi-driver/releases/tag/v2.0.0-beta.10",
		},
		{
			name: "azure-disk, HostProcess flag in a container of its own", cluster: disk("4.18.20", with(azureDisk("v1.31.1", argument("--enable-windows-host-process=true")))),
			verdict: finding.Block, why: "the driver works on the container's own system and not on the node: it starts, and no volume can be mounted", source: "https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/master/pkg/azuredisk/azuredisk_option.go",
		},
		{
			name: "azure-disk to the release that moves inside", cluster: disk("4.20.6", with(azureDiskHost("v1.33.1-windows-hp"))), to: "4.21",
			verdict: finding.Pass, why: "1.33.5 or 1.34.2, as the patch has it: Windows equals 4.20, and whichever comes, it follows after the update", source: asClose,
		},
		{
			name: "azure-disk on Server 2019", cluster: disk("4.19.12", onWindows(17763), with(azureDisk("v1.32.0"))), to: "4.20",
			verdict: finding.Pass, why: "there are images for 1809; equal before the update", source: asClose,
		},
		{
			name: "azure-disk pipes on Server 2025, running", cluster: disk("4.22.2", onWindows(26100), with(azureDisk("v1.34.2"))),
			verdict: finding.Pass, why: "pods are ready and registered; images of Server 2022 run on 2025", source: stableABI,
		},
		{
			name: "azure-disk pipes on Server 2025, before an update", cluster: disk("4.21.9", onWindows(26100), with(azureDisk("v1.34.2"))), to: "4.22",
			verdict: finding.Pass, why: "containerd 1.7 on build 26100 takes images from 20348 up", source: stableABI,
		},
		{
			name: "azure-disk and azure-file, both equal", cluster: file("4.21.9", uses(azureDiskName), with(azureDiskHost("v1.34.2-windows-hp"), azureFileHost("v1.34.1-windows-hp"))), to: "4.22",
			verdict: finding.Pass, why: "both equal before the update; Azure File follows to 1.35 after it", source: asClose,
		},
		{
			name: "azure-disk equal, azure-file behind", cluster: file("4.21.9", uses(azureDiskName), with(azureDiskHost("v1.34.2-windows-hp"), azureFileHost("v1.32.3-windows-hp"))), to: "4.22",
			verdict: finding.Warn, why: "Azure File is two minors behind before the update", source: asClose,
		},
		{
			name: "azure-file 4.12 to 4.13", cluster: file("4.12.60", acked("ack-4.12-kube-1.26-api-removals-in-4.13"), with(azureFile("v1.21.0"))), to: "4.13",
			verdict: finding.Warn, why: "WMCO 8.0 has no csi-proxy: 8.1 or newer has to be installed, or the driver loses its pipes", source: asClose,
		},
		{
			name: "azure-disk 4.12 to 4.13, volumes of CSI", cluster: disk("4.12.60", acked("ack-4.12-kube-1.26-api-removals-in-4.13"), with(azureDisk("v1.22.0"))), to: "4.13",
			verdict: finding.Warn, why: "WMCO 8.1 has to be installed, not 8.0, and it holds a node with any claim, in-tree or not, until it is released", source: wmcoHolds,
		},
		{
			name: "azure-file 4.13 to 4.14, not acknowledged", cluster: file("4.13.50", with(azureFile("v1.25.1")), change(func(c *cluster) {
				c.notUpgradeable = [2]string{"AdminAckRequired", "Kubernetes 1.27 and therefore OpenShift 4.14 remove several APIs."}
			})), to: "4.14",
			verdict: finding.Warn, why: "the cluster waits for ack-4.13-kube-1.27-api-removals-in-4.14: one command, nothing is in danger", source: adminGates,
		},
		{
			name: "azure-file 4.13 to 4.14, acknowledged", cluster: file("4.13.50", acked("ack-4.13-kube-1.27-api-removals-in-4.14"), with(azureFile("v1.25.1"))), to: "4.14",
			verdict: finding.Pass, why: "equal before the update; whichever of 1.28.1 and 1.29.5 comes, Windows follows after it", source: asClose,
		},
	}
}
