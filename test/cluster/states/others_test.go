package states

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/base/finding"
)

// proxyDaemonSet is csi-proxy as a HostProcess DaemonSet.
func proxyDaemonSet() *appsv1.DaemonSet {
	d := driver{selector: map[string]string{"app": "csi-proxy"}}
	yes, user := true, `NT AUTHORITY\SYSTEM`
	return &appsv1.DaemonSet{
		TypeMeta: kind("apps/v1", "DaemonSet"), ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "csi-proxy", Generation: 1},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: d.selector},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: d.selector}, Spec: corev1.PodSpec{
				HostNetwork: true, NodeSelector: map[string]string{"kubernetes.io/os": "windows"}, Tolerations: everything,
				SecurityContext: &corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: &yes, RunAsUserName: &user}},
				Containers:      []corev1.Container{{Name: "csi-proxy", Image: "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy:v1.3.0"}},
			}},
		},
		Status: appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 2, CurrentNumberScheduled: 2, UpdatedNumberScheduled: 2, NumberReady: 2, NumberAvailable: 2},
	}
}

func inTreeStates() []state {
	unmigrated := change(func(c *cluster) {
		for i := range c.nodes {
			c.nodes[i].unmigrated = true
		}
	})
	ack412, ack413 := acked("ack-4.12-kube-1.26-api-removals-in-4.13"), acked("ack-4.13-kube-1.27-api-removals-in-4.14")
	return []state{
		{
			name: "in-tree azure-file in use, no driver, 4.12 to 4.13", cluster: openshift("4.12.60", "Azure", ack412, unmigrated, usesInTree("kubernetes.io/azure-file", false)), to: "4.13",
			verdict: finding.Block, why: "from 4.13 on the kubelet leaves the volume to a CSI driver that isn't on the node", source: asClose,
		},
		{
			name: "in-tree azure-file in use, driver running, 4.12 to 4.13", cluster: openshift("4.12.60", "Azure", ack412, unmigrated, usesInTree("kubernetes.io/azure-file", false), with(azureFile("v1.21.0"))), to: "4.13",
			verdict: finding.Warn, why: "the driver is there; WMCO has to be 8.1 or newer, or its pipes go", source: asClose,
		},
		{
			name: "in-tree azure-disk in use, no driver, 4.12 to 4.13", cluster: openshift("4.12.60", "Azure", ack412, unmigrated, usesInTree("kubernetes.io/azure-disk", false)), to: "4.13",
			verdict: finding.Block, why: "the volume's driver isn't on the node when the kubelet moves it", source: asClose,
		},
		{
			name: "in-tree vsphere in use, 4.13 to 4.14", cluster: openshift("4.13.50", "VSphere", ack413, acked("ack-4.13-kube-127-vsphere-migration-in-4.14"), unmigrated, usesInTree("kubernetes.io/vsphere-volume", false)), to: "4.14",
			verdict: finding.Block, why: "4.14 moves the volume to a driver that isn't on any Windows node", source: asClose,
		},
		{
			name: "in-tree ebs in use on AWS", cluster: openshift("4.12.60", "AWS", ack412, usesInTree("kubernetes.io/aws-ebs", true)), to: "4.13",
			verdict: finding.Block, why: "the volume is moved already, and there is no driver: its pod can't mount", source: asClose,
		},
		{
			name: "in-tree azure-file, migrated, driver running", cluster: openshift("4.16.30", "Azure", usesInTree("kubernetes.io/azure-file", true), with(azureFile("v1.29.5"))), to: "4.17",
			verdict: finding.Pass, why: "the kubelet serves it through the driver, which runs and equals Linux", source: asClose,
		},
		{
			name: "in-tree azure-disk, migrated, driver gone", cluster: openshift("4.16.30", "Azure", usesInTree("kubernetes.io/azure-disk", true)),
			verdict: finding.Block, why: "nothing on the node can mount a migrated volume without its driver", source: asClose,
		},
		{
			name: "in-tree volume of a Linux pod", cluster: openshift("4.14.30", "Azure", usesOnLinux(azureDiskName), change(func(c *cluster) { c.volumes[0].inTree, c.volumes[0].migrated = "kubernetes.io/azure-disk", true })), to: "4.15", spaces: true, mustGather: true,
			verdict: finding.Pass, why: "Linux nodes have OpenShift's own driver; no Windows pod uses a volume", source: asClose,
		},
	}
}

func operatorStates() []state {
	failed := openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0")), change(func(c *cluster) { c.wmcoPhase = "Failed" }))
	return []state{
		{
			name: "WMCO that failed to install", cluster: failed, to: "4.21",
			verdict: finding.Warn, why: "the Windows nodes won't follow the update until WMCO is installed: it comes first", source: olmPhases,
		},
		{
			name: "WMCO that failed to install, in a must-gather", cluster: failed, to: "4.21", mustGather: true,
			verdict: finding.Warn, why: "as from the cluster itself", source: olmPhases,
		},
		{
			name: "WMCO without csi-proxy", cluster: openshift("4.12.40", "AWS", operator("7.1.0"), uses(ebsName), with(ebs("v1.12.0", broken))),
			verdict: finding.Block, why: "WMCO 7.1 brings no csi-proxy: the driver dials pipes that nobody serves", source: asClose,
		},
		{
			name: "WMCO at work on its nodes", cluster: openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0")), change(func(c *cluster) {
				c.nodes[1].wmco, c.nodes[1].kubelet = since["4.19"].wmco, since["4.19"].kubelet
			})),
			verdict: finding.Warn, why: "a node is still the last release's: the update isn't finished", source: wmcoReadme,
		},
		{
			name: "kubelets two minors behind an odd release", cluster: openshift("4.21.3", "VSphere", nodesOf("4.19"), operator("10.19.2"), uses(vsphereName), with(vsphereHost("v3.6.0"))), to: "4.22",
			verdict: finding.Block, why: "OpenShift allows an even release two minors, and these would be three behind: it refuses the update", source: kubeletSkew,
		},
		{
			name: "kubelets one minor behind, to an even release", cluster: openshift("4.21.3", "VSphere", nodesOf("4.20"), operator("10.20.1"), uses(vsphereName), with(vsphereHost("v3.6.0"))), to: "4.22",
			verdict: finding.Warn, why: "two behind is allowed at 4.22, but the nodes should follow to 4.21 first: WMCO of 4.20 isn't supported on 4.22", source: wmcoReadme,
		},
		{
			name: "WMCO gone after an EUS update", cluster: openshift("4.20.6", "VSphere", nodesOf("4.18"), uses(vsphereName), with(vsphere("v3.3.1")), change(func(c *cluster) { c.wmco, c.pausedPools = "", true })),
			verdict: finding.Warn, why: "the control plane is there; WMCO has to be installed again, and pools unpaused", source: eusUpdates,
		},
		{
			name: "an old node-driver-registrar that doesn't start", cluster: openshift("4.14.30", "AWS", uses(ebsName), with(ebs("v1.18.0", registrar("v1.2.0"), broken))),
			verdict: finding.Block, why: "the registrar supports Windows from 1.3.0 on; the driver is registered on no node, and pods need it", source: "https://github.com/kubernetes-csi/docs/blob/master/book/src/csi-windows.md",
		},
		{
			name: "an old node-driver-registrar that works", cluster: openshift("4.14.30", "AWS", uses(ebsName), with(ebs("v1.18.0", registrar("v1.2.0")))),
			verdict: finding.Pass, why: "it has registered the driver on every node, which is all that it does", source: "https://github.com/kubernetes-csi/docs/blob/master/book/src/csi-windows.md",
		},
		{
			name: "driver's pods on one of two nodes, nobody needs it there", cluster: openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0", running(0)))),
			verdict: finding.Warn, why: "a pod with a volume that is scheduled to the other node would wait", source: nodeInfo,
		},
		{
			name: "a Windows node is down", cluster: openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0")), change(func(c *cluster) { c.nodes[1].down = true })), to: "4.21",
			verdict: finding.Warn, why: "bring the node back before the update", source: nodeInfo,
		},
	}
}

func policyStates() []state {
	azure := func(mods ...mod) *cluster {
		return openshift("4.20.6", "Azure", append([]mod{uses(azureFileName)}, mods...)...)
	}
	return []state{
		{
			name: "HostProcess in a namespace that became restricted, before an update", cluster: openshift("4.20.6", "VSphere", uses(vsphereName), namespace("windows-storage", enforces("restricted")), with(vsphereHost("v3.5.0", at("windows-storage", "vmware-vsphere-csi-driver-node-windows")))), to: "4.21",
			verdict: finding.Block, why: "the update replaces nodes, and the namespace refuses the pods of new ones", source: podSecurity,
		},
		{
			name: "HostProcess refused by a baseline namespace", cluster: azure(namespace("csi-windows", enforces("baseline")), with(azureFileHost("v1.33.3-windows-hp", at("csi-windows", "csi-azurefile-node-win"), broken))),
			verdict: finding.Block, why: "baseline refuses HostProcess pods: the driver runs nowhere, and a pod uses it", source: podSecurity,
		},
		{
			name: "HostProcess running, and the namespace is baseline now", cluster: azure(namespace("csi-windows", enforces("baseline")), with(azureFileHost("v1.33.3-windows-hp", at("csi-windows", "csi-azurefile-node-win")))), to: "4.21",
			verdict: finding.Block, why: "pods that are there stay; the update makes new nodes, and their pods are refused", source: podSecurity,
		},
		{
			name: "HostProcess in a namespace that OpenShift labels", cluster: azure(namespace("csi-windows", nil), with(azureFileHost("v1.33.3-windows-hp", at("csi-windows", "csi-azurefile-node-win")))), to: "4.21",
			verdict: finding.Pass, why: "OpenShift enforces privileged where no label says otherwise, and pods run", source: labelSyncer,
		},
		{
			name: "a taint of the owner's that the driver doesn't tolerate", cluster: azure(with(azureFileHost("v1.33.3-windows-hp", tolerating(osWindows))), change(func(c *cluster) { c.nodes[1].taint, c.volumes[0].node = "shop", 1 })),
			verdict: finding.Block, why: "the pod's node has no driver", source: nodeInfo,
		},
		{
			name: "two pools, a driver for each", cluster: azure(change(func(c *cluster) {
				c.nodes[0].labels, c.nodes[1].labels = map[string]string{"pool": "a"}, map[string]string{"pool": "b"}
			}), with(azureFileHost("v1.33.3-windows-hp", selecting("pool", "a")), azureFileHost("v1.33.3-windows-hp", at("kube-system", "csi-azurefile-node-win-b"), selecting("pool", "b")))), to: "4.21",
			verdict: finding.Pass, why: "two DaemonSets, and none of them on the other's nodes", source: daemonSets,
		},
		{
			name: "a node selector with a capital", cluster: azure(with(azureFileHost("v1.33.3-windows-hp", func(d *driver) { d.nodeSelector = map[string]string{"kubernetes.io/os": "Windows"} }))),
			verdict: finding.Block, why: "labels are compared by case: no node has os Windows, and a pod needs the driver", source: windowsLabel,
		},
	}
}

func updateStates() []state {
	ready := func(mods ...mod) *cluster {
		return openshift("4.19.12", "AWS", append([]mod{uses(ebsName), with(ebs("v1.39.0"))}, mods...)...)
	}
	refuses := change(func(c *cluster) {
		c.notUpgradeable = [2]string{"PoolUpdating", "Cluster operator machine-config should not be upgraded between minor versions: One or more machine config pools are updating"}
	})
	return []state{
		{
			name: "the cluster refuses minor updates", cluster: ready(refuses), to: "4.20",
			verdict: finding.Block, why: "Upgradeable=False: the cluster version operator refuses a minor update", source: cvoRefuses,
		},
		{
			name: "the cluster refuses minor updates, and a patch is asked for", cluster: ready(refuses), to: "4.19.20",
			verdict: finding.Pass, why: "Upgradeable=False doesn't hold patches", source: cvoRefuses,
		},
		{
			name: "a patch update that moves nothing", cluster: ready(offers("4.19.20")), to: "4.19.20",
			verdict: finding.Pass, why: "4.19 ships one version", source: asClose,
		},
		{
			name: "an update is under way", cluster: ready(change(func(c *cluster) { c.updating = "4.20.6" })),
			verdict: finding.Warn, why: "wait until it is complete", source: cvoRefuses,
		},
		{
			name: "after an update, Windows not followed yet", cluster: openshift("4.20.6", "AWS", uses(ebsName), with(ebs("v1.39.0"))),
			verdict: finding.Warn, why: "the after-step is due: Linux is at 1.45", source: asClose,
		},
		{
			name: "a release that nobody knows", cluster: ready(), to: "5.4",
			verdict: finding.Unknown, why: "no data says what 5.4 ships", source: asClose,
		},
		{
			name: "the storage operator isn't managed", cluster: ready(change(func(c *cluster) { c.managed = "Unmanaged" })), to: "4.20",
			verdict: finding.Warn, why: "an unmanaged operator leaves the Linux driver where it is: what 4.20 ships doesn't come", source: "https://github.com/openshift/api/blob/master/operator/v1/types_csi_cluster_driver.go",
		},
	}
}

func eusStates() []state {
	paused := change(func(c *cluster) { c.channel, c.pausedPools = "eus-4.20", true })
	return []state{
		{
			name: "EUS to EUS, ebs equal", cluster: openshift("4.18.20", "AWS", paused, uses(ebsName), with(ebs("v1.34.0"))), to: "4.20",
			verdict: finding.Warn, why: "WMCO has to be removed before and installed again after; Windows stays two minors behind meanwhile, which an even release allows", source: eusUpdates,
		},
		{
			name: "EUS to EUS, vsphere", cluster: openshift("4.18.20", "VSphere", paused, uses(vsphereName), with(vsphere("v3.3.1"))), to: "4.20",
			verdict: finding.Warn, why: "WMCO has to be removed and installed again, and 4.20 needs the HostProcess manifest", source: eusUpdates,
		},
		{
			name: "EUS to EUS, nodes behind before", cluster: openshift("4.18.20", "VSphere", paused, nodesOf("4.17"), uses(vsphereName), with(vsphere("v3.3.1"))), to: "4.20",
			verdict: finding.Block, why: "the kubelets would be three minors behind the control plane", source: kubeletSkew,
		},
	}
}

func inputStates() []state {
	none := change(func(c *cluster) { c.nodes = nil })
	waits := openshift("4.20.6", "VSphere", change(func(c *cluster) {
		c.volumes = append(c.volumes, volume{name: "data", node: -1, provisioner: vsphereName})
	}))
	return []state{
		{
			name: "a pod waits, and the driver is on no Windows node", cluster: waits, to: "4.21", mustGather: true, spaces: true,
			verdict: finding.Warn, why: "the pod's volume can be mounted on no node", source: nodeInfo,
		},
		{
			name: "no Windows node, the driver waits", cluster: openshift("4.19.12", "VSphere", none, usesOnLinux(vsphereName), with(vsphere("v3.3.1"))), to: "4.20", mustGather: true,
			verdict: finding.Pass, why: "all nodes were read and none runs Windows: the DaemonSet has no pod, and nothing depends on it", source: daemonSets,
		},
		{
			name: "Windows without storage", cluster: openshift("4.19.12", "VSphere", usesOnLinux(vsphereName)), to: "4.20", spaces: true, mustGather: true,
			verdict: finding.Pass, why: "no Windows pod uses a volume, and there is no driver", source: asClose,
		},
		{
			name: "a must-gather with every namespace of the workload", cluster: openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0"))), to: "4.21", mustGather: true,
			verdict: finding.Pass, why: "all that has a Windows workload is in it", source: mustGathers,
		},
		{
			name: "a must-gather as it comes", cluster: openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0"))), to: "4.21", mustGather: true, without: []string{"shop"},
			verdict: finding.Unknown, why: "which volumes Windows pods use isn't in it; one command gathers it", source: mustGathers,
		},
		{
			name: "a must-gather of a cluster that has to act", cluster: openshift("4.19.12", "VSphere", uses(vsphereName), with(vsphere("v3.3.0"))), to: "4.20", mustGather: true,
			verdict: finding.Warn, why: "as from the cluster itself", source: hostOnly,
		},
	}
}
