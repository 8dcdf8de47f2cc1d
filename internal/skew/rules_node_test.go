package skew_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

func kubelet(v string, which ...int) change {
	return onNodes(func(n *inventory.Node) { n.Kubelet = v }, which...)
}

func apiServer(v string) change { return func(inv *inventory.Inventory) { inv.Cluster.Kubernetes = v } }

func kubeletCases() []ruleCase {
	updating := func(inv *inventory.Inventory) {
		inv.Cluster.Updating, inv.Cluster.Kubernetes = "4.20.3", "v1.33.5"
	}
	return []ruleCase{
		{name: "in step", id: "NODE001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "two behind on an even release", id: "NODE001", from: "4.20", inv: storageCluster("4.20", "10.18.0"), change: kubelet("v1.31.9")},
		{name: "two behind on an odd release", id: "NODE001", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: kubelet("v1.30.9", 1), want: finding.Block,
			says: "kubelet 1.30.9 on win-1, API server 1.32", does: "let WMCO be updated to its release for", fix: kubelet("v1.32.9"), count: 1},
		{name: "three behind on an even release", id: "NODE001", from: "4.20", inv: storageCluster("4.20", "10.18.0"), change: kubelet("v1.30.9"), want: finding.Block,
			says: "1.30.9 on win-0, win-1, win-2", fix: kubelet("v1.31.0")},
		{name: "too old for the target alone", id: "NODE001", from: "4.18", to: "4.19", inv: storageCluster("4.18", "10.17.1"), change: kubelet("v1.30.9"), want: finding.Block,
			says: "API server 1.32", does: "let WMCO be updated to its release for", fix: kubelet("v1.31.0"), count: 1},
		{name: "newer", id: "NODE001", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: kubelet("v1.33.1"), want: finding.Block,
			says: "the kubelet is newer", does: "finish the update of the control plane first", fix: kubelet("v1.32.9")},
		{name: "on a later hop", id: "NODE001", from: "4.17", to: "4.20", inv: storageCluster("4.17", "10.17.1"), want: finding.Info, does: "let WMCO be updated to its release for"},
		{name: "unreadable", id: "NODE001", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: kubelet("unknown", 1), want: finding.Unknown,
			says: `"unknown" on win-1`, does: "oc get node/win-1", fix: kubelet("v1.32.9"), count: 1},
		{name: "no API server", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: func(inv *inventory.Inventory) { inv.Cluster.OpenShift, inv.Cluster.Kubernetes = "", "" }, want: finding.Unknown,
			says: "isn't known", does: "--from", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From = "4.19" }, count: 1},
		{name: "another Kubernetes", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(func(inv *inventory.Inventory) { inv.Cluster.OpenShift = "" }, apiServer("v1.33.1"), kubelet("v1.30.9"))},
		{name: "another Kubernetes, too old", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(func(inv *inventory.Inventory) { inv.Cluster.OpenShift = "" }, apiServer("v1.27.1"), kubelet("v1.24.9")), want: finding.Block,
			says: "kubelet 1.24.9", fix: kubelet("v1.25.0")},
		{name: "half way, two behind the new API server", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(updating, kubelet("v1.31.9"))},
		{name: "half way, newer, and which API server isn't known", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(updating, apiServer(""), kubelet("v1.33.5", 1))},
		{name: "half way, newer than either", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(updating, apiServer(""), kubelet("v1.34.5", 1)), want: finding.Block, says: "the kubelet is newer", fix: kubelet("v1.33.5")},
		{name: "half way, newer than the API server", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(updating, apiServer("v1.32.9"), kubelet("v1.33.5", 1)), want: finding.Block, says: "the kubelet is newer", fix: kubelet("v1.32.9")},
		{name: "half way, three behind", id: "NODE001", inv: storageCluster("4.19", "10.19.1"), change: all(updating, kubelet("v1.30.9")), want: finding.Block, says: "API server 1.33", fix: kubelet("v1.31.9")},
	}
}

func operatorCases() []ruleCase {
	operator := func(v string) change {
		return all(wmco(v+"-1a2b3c4"), func(inv *inventory.Inventory) { inv.Cluster.WMCO = v })
	}
	return []ruleCase{
		{name: "the release's own", id: "NODE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "the one before", id: "NODE002", from: "4.19", inv: storageCluster("4.19", "10.18.0")},
		{name: "two before", id: "NODE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.17.1"), want: finding.Warn,
			says: "WMCO 10.17.1 is for OpenShift 4.17", does: "let WMCO be updated to its release for 4.19 (approve its install plan", fix: operator("10.19.1"), count: 1},
		{name: "newer than the cluster", id: "NODE002", from: "4.19", inv: storageCluster("4.19", "10.20.1"), want: finding.Warn,
			says: "WMCO 10.20.1 is for OpenShift 4.20", does: "update the cluster to 4.20, which this WMCO is for", fix: operator("10.19.1"), count: 1},
		{name: "one node left behind", id: "NODE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(ownWMCO(""), wmco("10.17.1-1a2b3c4", 1)), want: finding.Warn,
			says: "WMCO 10.17.1-1a2b3c4 is for OpenShift 4.17", does: "see why it doesn't configure win-1\noc get node/win-1 -o yaml\noc -n openshift-windows-machine-config-operator logs deployment/windows-machine-config-operator", fix: wmco("10.19.1-1a2b3c4"), count: 1},
		{name: "the same node's kubelet", id: "NODE001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(ownWMCO(""), wmco("10.17.1-1a2b3c4", 1), onNodes(func(n *inventory.Node) { n.Kubelet = "v1.30.9" }, 1)), want: finding.Block,
			does: "let WMCO be updated to its release for", fix: kubelet("v1.32.9"), count: 1},
		{name: "a node that WMCO left behind", id: "NODE001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(ownWMCO("10.19.1-1a2b3c4"), wmco("10.17.1-1a2b3c4", 1), onNodes(func(n *inventory.Node) { n.Kubelet = "v1.30.9" }, 1)), want: finding.Block,
			does: "see why it doesn't configure win-1", fix: kubelet("v1.32.9"), count: 1},
		{name: "none for the target", id: "NODE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), know: noWMCO("4.20"), want: finding.Warn,
			says: "knows no release of WMCO for OpenShift 4.20", does: "get packagemanifest", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.To = "4.19" }, count: 1},
		{name: "on a later hop", id: "NODE002", from: "4.17", to: "4.20", inv: storageCluster("4.17", "10.17.1"), want: finding.Info},
		{name: "unheard of", id: "NODE002", from: "4.19", inv: storageCluster("4.19", "77.0.0"), want: finding.Unknown,
			says: "version 77.0.0", does: "get csv", fix: operator("10.19.1"), count: 1},
		{name: "nodes without WMCO", id: "NODE002", from: "4.19", inv: storageCluster("4.19", "")},
		{name: "at work on a node", id: "NODE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: desired("10.19.2-5a6b7c8"), want: finding.Warn,
			says: "WMCO isn't done with win-1", does: "wait until WMCO has configured win-1, or see why it doesn't\noc get node/win-1 -o yaml", fix: desired("10.19.1-1a2b3c4"), count: 1},
		{name: "at work on a node, and no update", id: "NODE002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: desired("10.19.2-5a6b7c8")},
		{name: "not installed", id: "NODE002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: installed("Failed"), want: finding.Warn,
			says: "its phase is Failed (InstallCheckFailed: install timeout)", does: "oc -n openshift-windows-machine-config-operator describe csv/windows-machine-config-operator.v10.19.1", fix: installed("Succeeded"), count: 1},
		{name: "not installed, and no update", id: "NODE002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: installed("Pending"), want: finding.Warn, says: "its phase is Pending", fix: installed(""), count: 1},
		{name: "4.22 goes to 5.0", id: "NODE002", from: "4.22", to: "5.0", inv: storageCluster("4.22", "10.22.1")},
	}
}

// desired is the WMCO that is to configure win-1, which 10.19.1-1a2b3c4 has.
func desired(v string) change {
	return onNodes(func(n *inventory.Node) { n.WMCO, n.DesiredWMCO = "10.19.1-1a2b3c4", v }, 1)
}

// installed gives WMCO a ClusterServiceVersion in a phase.
func installed(phase string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.CSV = &inventory.ClusterServiceVersion{
			Object: inventory.Object{Kind: "ClusterServiceVersion", Namespace: "openshift-windows-machine-config-operator", Name: "windows-machine-config-operator.v10.19.1"},
			Phase:  phase, Reason: "InstallCheckFailed", Message: "install\ntimeout", At: fact("ClusterServiceVersion"),
		}
	}
}

// A plan begins with a WMCO that isn't installed, whatever else is due.
func TestPlanBeginsWithWMCO(t *testing.T) {
	for _, way := range [][2]string{{"4.19", "4.20"}, {"4.18", "4.20"}, {"4.16", "4.19"}, {"4.19", ""}} {
		inv := storageCluster(way[0], "10.17.1")
		inv.Cluster.Channel = "eus-" + way[0]
		all(installed("Failed"), ownWMCO("10.17.1"), wmco("10.17.1"), refuses("PoolUpdating"))(inv)
		steps := evaluate(t, inv, skew.Request{From: way[0], To: way[1]}).Steps
		if len(steps) == 0 || !strings.HasPrefix(steps[0].What, "see why ClusterServiceVersion openshift-windows-machine-config-operator/windows-machine-config-operator.v10.19.1 is Failed") || steps[0].Actions[0].Judge == "" {
			t.Errorf("%v: %+v", way, steps)
		}
		for _, s := range steps[1:] {
			if slices.ContainsFunc(s.Actions, func(a finding.Action) bool { return a.Kind == "finish-wmco" }) {
				t.Errorf("%v: again: %s", way, s.What)
			}
		}
	}
}

func noWMCO(minor string) func(*catalog.Catalog) {
	return func(c *catalog.Catalog) {
		for i := range c.WMCO {
			if c.WMCO[i].OpenShift == minor {
				c.WMCO[i].OpenShift = "4.0"
			}
		}
	}
}

// oldOn2025 is Windows Server 2025 with the containerd of WMCO 8.0, which wants
// images of the very build.
func oldOn2025() change { return all(build(26100), containerd("containerd://1.6.19-4-gd594a39e7")) }

func containerd(runtime string) change {
	return onNodes(func(n *inventory.Node) { n.Runtime = runtime })
}

func runtimeCases() []ruleCase {
	hp := onWindows(func(d *inventory.Driver) { hostProcess(d); flagged(true)(d) })
	below := onWindows(func(d *inventory.Driver) { d.Paths.Endpoint = &inventory.Path{Mount: `C:\csi`} })
	host := func() *inventory.Inventory { return clusterOf("4.22", "10.22.1", ebs("v1.54.0")) }
	return []ruleCase{
		{name: "containerd 1.7 has mounts where they are asked for", id: "NODE005", from: "4.22", inv: host(), change: all(hp, below, containerd("containerd://1.7.27"))},
		{name: "containerd 2", id: "NODE005", from: "4.22", inv: host(), change: all(hp, below, containerd("containerd://2.0.1"))},
		{name: "containerd 1.6 hasn't", id: "NODE005", from: "4.22", inv: host(), change: all(hp, below, containerd("containerd://1.6.24")), want: finding.Warn,
			says: `its socket is below the mount C:\csi`, does: `C:\var\lib\kubelet\plugins\ebs.csi.aws.com\csi.sock`, fix: onWindows(func(d *inventory.Driver) { d.Paths.Endpoint = nil }), count: 1},
		{name: "and a socket at the node's path", id: "NODE005", from: "4.22", inv: host(), change: all(hp, containerd("containerd://1.6.24"))},
		{name: "containerd 1.5 runs none", id: "NODE005", from: "4.22", inv: host(), change: all(hp, containerd("containerd://1.5.18")), want: finding.Block,
			says: "containerd://1.5.18 on win-0, win-1, win-2", does: "a newer containerd", fix: containerd("containerd://1.6.24"), count: 1},
		{name: "Docker runs none", id: "NODE005", from: "4.22", inv: host(), change: all(hp, containerd("docker://20.10.9")), want: finding.Block, does: "csi-proxy's pipes", fix: containerd("containerd://1.7.27"), count: 1},
		{name: "and it is seen to start", id: "NODE005", from: "4.22", inv: host(), change: all(hp, containerd("containerd://1.5.18")), seen: true},
		{name: "a container of its own", id: "NODE005", from: "4.22", inv: host(), change: all(below, containerd("containerd://1.5.18"))},
		{name: "a runtime that isn't known", id: "NODE005", from: "4.22", inv: host(), change: all(hp, below)},
	}
}

// TestOldRuntimeRemedy: a driver that must be a HostProcess one isn't sent back to pipes.
func TestOldRuntimeRemedy(t *testing.T) {
	for tag, pipes := range map[string]bool{"v3.3.0": true, "v3.5.0": false, "v3.6.0": false} {
		inv := clusterOf("4.20", "10.20.0", vsphere(tag))
		all(onWindows(hostProcess), unseen, containerd("containerd://1.5.18"))(inv)
		fs := ofRule(evaluate(t, inv, skew.Request{}), "NODE005")
		if len(fs) != 1 || !strings.HasPrefix(fs[0].Remedy, "let WMCO bring these nodes a newer containerd") || strings.Contains(fs[0].Remedy, "pipes") != pipes {
			t.Errorf("%s: %s", tag, show(fs))
		}
	}
}

func buildCases() []ruleCase {
	hp := onWindows(func(d *inventory.Driver) { hostProcess(d); flagged(true)(d) })
	return []ruleCase{
		{name: "an image that a mirror has", id: "NODE003", from: "4.14", inv: storageCluster("4.14", "9.0.2"), change: vsphereFrom("mirror.example/vsphere")},
		{name: "2025 runs images of 2022", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(build(26100), containerd("containerd://1.7.27"))},
		{name: "as far as is known", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: build(26100)},
		{name: "an image of it", id: "NODE003", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "EBS 1.54 on Windows Server 2025", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: oldOn2025(), want: finding.Block,
			says: "Windows Server 2025 (build 26100) on win-0, win-1, win-2", does: "apply the project's HostProcess manifest of this version", fix: hp, count: 1},
		{name: "EBS 1.56 on it", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.56.0")), change: oldOn2025()},
		{name: "EBS 1.30 on it", id: "NODE003", from: "4.17", inv: clusterOf("4.17", "10.17.1", ebs("v1.30.0")), change: oldOn2025(), want: finding.Block,
			does: "deploy a version with images of it: AWS EBS CSI driver from 1.56.0 on", fix: at("v1.56.0")},
		{name: "vSphere 3.3 on it", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", vsphere("v3.3.0")), change: oldOn2025(), want: finding.Block,
			does: "deploy a version that runs as a HostProcess container, on any build: vSphere CSI driver from 3.5.0 on", fix: all(at("v3.6.0"), hp)},
		{name: "HP001 speaks of vSphere 3.5", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", vsphere("v3.5.0")), change: oldOn2025()},
		{name: "GCE PD on it", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", windowsDriver("gcp-pd", "pd.csi.storage.gke.io", "v1.24.1", "disk-v1", "filesystem-v1", "volume-v1")), change: oldOn2025(), want: finding.Block,
			does: "keep the pods off these nodes", fix: onWindows(func(d *inventory.Driver) { d.Scheduling.NodeSelector["storage"] = "yes" })},
		{name: "and to follow Linux takes a version that runs there", id: "SKEW001", from: "4.19", inv: clusterOf("4.19", "10.19.1", windowsDriver("gcp-pd", "pd.csi.storage.gke.io", "v1.15.2", "disk-v1", "filesystem-v1", "volume-v1")), want: finding.Warn,
			does: "gcp-pd:v1.18.0", fix: at("v1.17.4")},
		{name: "it chooses the version", id: "SKEW001", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(oldOn2025(), unseen), want: finding.Warn,
			says: "6 minors ahead", does: "do what NODE003 asks for first", fix: at("v1.48.0")},
		{name: "and nothing brings it closer", id: "SKEW001", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.56.0")), change: oldOn2025(), want: finding.Info,
			says: "8 minors ahead", does: "no version that is closer", fix: at("v1.48.0")},
		{name: "HostProcess runs on any", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(oldOn2025(), hp)},
		{name: "a build without a name", id: "NODE003", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: build(19045), want: finding.Warn, says: "build 19045", fix: build(20348), count: 1},
		{name: "a node's build not known", id: "NODE003", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: onNodes(func(n *inventory.Node) { n.Build = 0 }, 1), want: finding.Warn,
			says: "an unknown build on win-1", does: "kernelVersion", fix: build(20348), count: 1},
		{name: "images not known", id: "NODE003", from: "4.8", inv: clusterOf("4.8", "3.1.0", ebs("v1.2.0")), want: finding.Warn,
			says: "Windows Server 2022 (build 20348)", does: "1.12.0 on", fix: at("v1.12.0"), count: 1},
		{name: "the driver's version not known", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("latest")), change: oldOn2025()},
	}
}

func ownWMCO(v string) change {
	return func(inv *inventory.Inventory) { inv.Cluster.WMCO = v }
}

// windowsCases are of nodes whose Windows WMCO doesn't take.
func windowsCases() []ruleCase {
	on := func(platform string, build, revision int) change {
		return func(inv *inventory.Inventory) {
			inv.Cluster.Platform = platform
			onNodes(func(n *inventory.Node) { n.Build, n.Revision = build, revision })(inv)
		}
	}
	gone := func(c *catalog.Catalog) { c.Windows = c.Windows[1:] }
	lost := func(c *catalog.Catalog) { // a build that WMCO for 4.19 takes, and the one for 4.20 doesn't
		c.Windows = slices.DeleteFunc(slices.Clone(c.Windows), func(w catalog.WindowsBuild) bool { return w.Build == 20348 })
		c.Windows = append(c.Windows, catalog.WindowsBuild{Build: 20348, Name: "Windows Server 2022", Platforms: []string{"VSphere"}, From: "4.12", Until: "4.20"},
			catalog.WindowsBuild{Build: 26100, Name: "Windows Server 2025", Platforms: []string{"VSphere"}, From: "4.12"})
	}
	return []ruleCase{
		{name: "Server 2022", id: "NODE006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: on("VSphere", 20348, 2340)},
		{name: "2019 on vSphere", id: "NODE006", from: "4.21", to: "4.22", inv: storageCluster("4.21", "10.21.1"), change: on("VSphere", 17763, 5936), want: finding.Warn,
			says: "WMCO for OpenShift 4.22 takes on VSphere Windows Server 2022 (from 20348.681 on) and Windows Server 2025", does: "add machines of a Windows that WMCO takes first, Windows Server 2022 say", fix: on("VSphere", 20348, 2340), count: 1},
		{name: "2019 on vSphere, known by the driver", id: "NODE006", from: "4.21", to: "4.22", inv: storageCluster("4.21", "10.21.1"), change: on("", 17763, 5936), want: finding.Warn,
			says: "takes on VSphere", fix: on("", 20348, 2340), count: 1},
		{name: "2016", id: "NODE006", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: on("Azure", 14393, 7000), want: finding.Warn,
			says: "build 14393", does: "then remove win-0, win-1, win-2", fix: on("Azure", 20348, 2340), count: 1},
		{name: "20H2", id: "NODE006", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: on("Azure", 19042, 0), want: finding.Warn, fix: on("Azure", 17763, 0), count: 1},
		{name: "2022 without the patch", id: "NODE006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: on("VSphere", 20348, 500), want: finding.Warn,
			says: "build 20348.500 on win-0, win-1, win-2", does: "install the updates of Windows", fix: on("VSphere", 20348, 681), count: 1},
		{name: "two revisions without it", id: "NODE006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(on("VSphere", 20348, 500), onNodes(func(n *inventory.Node) { n.Revision = 600 }, 1)), want: finding.Warn,
			fix: on("VSphere", 20348, 681), count: 2},
		{name: "2019 on AWS to 4.21", id: "NODE006", from: "4.20", to: "4.21", inv: clusterOf("4.20", "10.20.1", ebs("v1.45.0")), change: on("AWS", 17763, 5936)},
		{name: "2019 on AWS to 4.22", id: "NODE006", from: "4.21", to: "4.22", inv: clusterOf("4.21", "10.21.1", ebs("v1.45.0")), change: on("AWS", 17763, 5936), want: finding.Warn,
			says: "calls WMCO 10.21 the last one for it", fix: on("AWS", 20348, 2340), count: 1},
		{name: "2025 before 4.22", id: "NODE006", from: "4.20", to: "4.21", inv: storageCluster("4.20", "10.20.1"), change: on("VSphere", 26100, 1), want: finding.Warn, fix: on("VSphere", 20348, 2340), count: 1},
		{name: "2025 on 4.22", id: "NODE006", from: "4.22", inv: storageCluster("4.22", "10.22.1"), change: on("VSphere", 26100, 1)},
		{name: "at rest", id: "NODE006", from: "4.21", inv: storageCluster("4.21", "10.21.1"), change: on("VSphere", 17763, 5936), want: finding.Warn, fix: on("VSphere", 20348, 2340), count: 1},
		{name: "the next release takes it no more", id: "NODE006", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), know: lost, want: finding.Block,
			says: "WMCO for OpenShift 4.20 takes on VSphere Windows Server 2025", does: "Windows Server 2025 say", fix: on("VSphere", 26100, 1), count: 1},
		{name: "nodes without WMCO", id: "NODE006", from: "4.21", to: "4.22", inv: storageCluster("4.21", ""), change: on("VSphere", 17763, 5936)},
		{name: "a build that isn't known", id: "NODE006", from: "4.21", to: "4.22", inv: storageCluster("4.21", "10.21.1"), change: on("VSphere", 0, 0)},
		{name: "the catalog has none for the minor", id: "NODE006", from: "4.10", inv: clusterOf("4.10", "5.1.1", azureDisk("v1.9.0")), change: on("Azure", 17763, 0)},
		{name: "a file's own rows", id: "NODE006", from: "4.20", inv: clusterOf("4.20", "10.20.1", azureDisk("v1.33.1")), change: on("Azure", 17763, 0), know: gone, want: finding.Warn, fix: on("Azure", 20348, 2340), count: 1},
	}
}

// containerdCases are of containerd beside a kubelet.
func containerdCases() []ruleCase {
	beside := func(runtime, kubelet string) change {
		return onNodes(func(n *inventory.Node) { n.Runtime, n.Kubelet = runtime, kubelet })
	}
	own := func() *inventory.Inventory { return storageCluster("4.21", "") }
	return []ruleCase{
		{name: "too old for Kubernetes", id: "NODE007", from: "4.21", inv: own(), change: beside("containerd://1.7.20", "v1.34.2"), want: finding.Warn,
			says: "Kubernetes 1.34 is tested from 1.6.39, 1.7.28, 2.0.6, 2.1.3 on; vulnerable: CVE-2024-25621, CVE-2026-35469", does: "install containerd 2.2.9 or newer on win-0, win-1, win-2", fix: beside("containerd://2.2.9", "v1.34.2"), count: 1},
		{name: "a line that its Kubernetes isn't tested with", id: "NODE007", from: "5.0", inv: storageCluster("5.0", ""), change: beside("containerd://1.7.34", "v1.36.2"), want: finding.Warn,
			says: "Kubernetes 1.36 is tested from 2.2.0, 2.3.0 on", does: "containerd 2.2.9", fix: beside("containerd://2.3.6", "v1.36.2"), count: 1},
		{name: "out of support", id: "NODE007", from: "4.21", inv: own(), change: beside("containerd://2.1.9", "v1.34.2"), want: finding.Warn,
			says: "support of 2.1 ended on 2026-07-03", fix: beside("containerd://2.2.9", "v1.34.2"), count: 1},
		{name: "a line without a fix", id: "NODE007", from: "4.21", inv: own(), change: beside("containerd://2.1.9", "v1.34.2"), want: finding.Warn,
			says: "vulnerable: CVE-2026-53493, CVE-2026-95837; support of 2.1", fix: beside("containerd://2.4.1", "v1.34.2"), count: 1},
		{name: "one fault is left", id: "NODE007", from: "4.21", inv: own(), change: beside("containerd://2.3.5", "v1.34.2"), want: finding.Warn,
			says: "on win-0, win-1, win-2: vulnerable: CVE-2026-53493", fix: beside("containerd://2.3.6", "v1.34.2"), count: 1},
		{name: "WMCO's own", id: "NODE007", from: "4.21", inv: storageCluster("4.21", "10.21.1"), change: beside("containerd://1.7.27", "v1.34.2"), want: finding.Info, says: "Kubernetes 1.34 is tested from", count: 1},
		{name: "what WMCO brings", id: "NODE007", from: "4.20", to: "4.21", inv: storageCluster("4.20", "10.20.1"), want: finding.Info, says: "it brings containerd 1.7.27; Kubernetes 1.34 is tested from 1.6.39, 1.7.28, 2.0.6, 2.1.3 on", count: 1},
		{name: "what WMCO brings fits", id: "NODE007", from: "4.18", to: "4.19", inv: storageCluster("4.18", "10.18.1")},
		{name: "supported, and good", id: "NODE007", from: "4.21", inv: own(), change: beside("containerd://2.3.6", "v1.34.2")},
		{name: "newer than the catalog", id: "NODE007", from: "4.21", inv: own(), change: beside("containerd://2.9.0", "v1.34.2")},
		{name: "Docker", id: "NODE007", from: "4.21", inv: own(), change: beside("docker://20.10.9", "v1.34.2")},
	}
}
