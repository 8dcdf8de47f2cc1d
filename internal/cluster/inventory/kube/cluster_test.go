package kube

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

const windowsNodeYAML = `
apiVersion: v1
kind: Node
metadata:
  name: win-1
  labels: {kubernetes.io/os: windows, node.kubernetes.io/windows-build: 10.0.17763}
  annotations: {windowsmachineconfig.openshift.io/version: 10.19.1-1a2b3c4, windowsmachineconfig.openshift.io/desired-version: 10.19.2-2b3c4d5}
spec: {taints: [{key: os, value: Windows, effect: NoSchedule}]}
status:
  conditions: [{type: Ready, status: "True"}]
  nodeInfo: {operatingSystem: windows, kernelVersion: 10.0.20348.2340, osImage: Windows Server 2022 Datacenter, kubeletVersion: v1.32.8+335be3a}
`

const linuxNodeYAML = `
apiVersion: v1
kind: Node
metadata: {name: lin-1}
status: {nodeInfo: {operatingSystem: linux, kernelVersion: 5.14.0-427}}
`

func TestNodes(t *testing.T) {
	inv := collect(t, Options{}, linuxNodeYAML, windowsNodeYAML).Inventory()
	if inv.LinuxNodes != 1 || len(inv.Nodes) != 1 {
		t.Fatalf("%d Linux nodes, Windows: %v", inv.LinuxNodes, inv.Nodes)
	}
	n := inv.Nodes[0]
	if n.Build != 20348 || !n.Ready || n.WMCO != "10.19.1-1a2b3c4" || n.DesiredWMCO != "10.19.2-2b3c4d5" || n.Kubelet != "v1.32.8+335be3a" {
		t.Errorf("%+v", n)
	}
	if len(n.Taints) != 1 || n.Taints[0] != (inventory.Taint{Key: "os", Value: "Windows", Effect: "NoSchedule"}) {
		t.Errorf("taints %v", n.Taints)
	}
}

func TestNodeWithoutSystem(t *testing.T) {
	for doc, want := range map[string]string{
		"apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {kubernetes.io/os: windows}}":                           "windows",
		"apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {beta.kubernetes.io/os: linux}}":                        "linux",
		"apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {node.kubernetes.io/windows-build: 10.0.26100}}":        "windows",
		"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {nodeInfo: {osImage: Windows Server 2025 Datacenter}}": "windows",
		"apiVersion: v1\nkind: Node\nmetadata: {name: a}":                                                                "problem",
	} {
		inv := collect(t, Options{}, doc).Inventory()
		got := map[bool]string{len(inv.Nodes) == 1: "windows", inv.LinuxNodes == 1: "linux", len(inv.Problems) == 1: "problem"}[true]
		if got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}

func TestCSINodes(t *testing.T) {
	win := "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: win-1, annotations: {storage.alpha.kubernetes.io/migrated-plugins: 'kubernetes.io/azure-disk, kubernetes.io/azure-file'}}\nspec: {drivers: []}"
	lin := "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: lin-1}\nspec: {drivers: [{name: b, nodeID: x, topologyKeys: [zone, rack]}, {name: a, nodeID: x}]}"
	inv := collect(t, Options{}, lin, win, linuxNodeYAML, windowsNodeYAML).Inventory()
	if len(inv.CSINodes) != 1 || inv.CSINodes[0].Name != "win-1" || inv.CSINodes[0].Drivers == nil {
		t.Fatalf("%+v", inv.CSINodes)
	}
	if got := inv.CSINodes[0].Migrated; !slices.Equal(got, []string{"kubernetes.io/azure-disk", "kubernetes.io/azure-file"}) {
		t.Errorf("migrated %q", got)
	}
	inv = collect(t, Options{}, lin, win).Inventory()
	if len(inv.CSINodes) != 2 || !slices.Equal(inv.CSINodes[0].Drivers, []string{"a", "b"}) {
		t.Errorf("without nodes: %+v", inv.CSINodes)
	}
	if keys := inv.CSINodes[0].TopologyKeys; len(keys) != 1 || !slices.Equal(keys["b"], []string{"rack", "zone"}) {
		t.Errorf("topology keys %v", keys)
	}
}

// A CSINode or a pod may be all that was read of a node.
func TestUnreadNodes(t *testing.T) {
	csi := func(name string) string {
		return "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " + name + "}\nspec: {drivers: []}"
	}
	free := strings.Replace(pod("a", "win-2", claimed), "nodeSelector: {kubernetes.io/os: windows}, ", "", 1)
	for name, c := range map[string]struct {
		docs []string
		want string
	}{
		"none":                         {[]string{linuxNodeYAML, windowsNodeYAML, csi("lin-1"), csi("win-1"), pod("a", "win-1", claimed)}, ""},
		"CSINodes":                     {[]string{linuxNodeYAML, csi("win-2"), csi("win-1"), csi("lin-1")}, "win-1 win-2"},
		"a pod and its CSINode":        {[]string{windowsNodeYAML, csi("win-2"), pod("a", "win-2", claimed)}, "win-2"},
		"a pod":                        {[]string{windowsNodeYAML, pod("a", "win-2", claimed)}, "win-2"},
		"a pod without volumes":        {[]string{windowsNodeYAML, pod("a", "win-2", "")}, "win-2"},
		"a pod that says nothing":      {[]string{windowsNodeYAML, free}, "win-2"},
		"one without volumes":          {[]string{windowsNodeYAML, strings.Replace(free, claimed, "", 1)}, ""},
		"a pod of Linux":               {[]string{windowsNodeYAML, strings.Replace(pod("a", "lin-2", claimed), "os: windows", "os: linux", 1)}, ""},
		"a node with a pod of Linux":   {[]string{windowsNodeYAML, csi("lin-2"), strings.Replace(pod("dns", "lin-2", ""), "os: windows", "os: linux", 1), strings.Replace(free, "win-2", "lin-2", 1)}, ""},
		"one that ended proves none":   {[]string{windowsNodeYAML, csi("lin-2"), strings.NewReplacer("os: windows", "os: linux", "Running", "Failed").Replace(pod("dns", "lin-2", ""))}, "lin-2"},
		"a pod that ended":             {[]string{windowsNodeYAML, strings.Replace(free, "Running", "Succeeded", 1)}, ""},
		"a pod without a node":         {[]string{windowsNodeYAML, pod("a", "", claimed)}, ""},
		"a node that tells no system":  {[]string{windowsNodeYAML, "apiVersion: v1\nkind: Node\nmetadata: {name: win-2}", csi("win-2")}, ""},
		"nodes that come after theirs": {[]string{csi("win-1"), pod("a", "win-1", claimed), windowsNodeYAML}, ""},
	} {
		col := collect(t, Options{}, c.docs...)
		if got := strings.Join(col.UnreadNodes(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// What is known of them stays.
	inv := collect(t, Options{}, windowsNodeYAML, csi("win-2")).Inventory()
	if len(inv.CSINodes) != 1 || inv.CSINodes[0].Name != "win-2" {
		t.Errorf("%+v", inv.CSINodes)
	}
	// What its pods say of a node counts where it wasn't read itself.
	linuxPod := strings.Replace(pod("dns", "win-1", ""), "os: windows", "os: linux", 1)
	if inv = collect(t, Options{}, linuxPod, csi("win-1")).Inventory(); len(inv.CSINodes) != 0 {
		t.Errorf("the node of a Linux pod: %+v", inv.CSINodes)
	}
	if inv = collect(t, Options{}, linuxPod, csi("win-1"), windowsNodeYAML).Inventory(); len(inv.CSINodes) != 1 {
		t.Errorf("a Windows node with a pod for Linux: %+v", inv.CSINodes)
	}
}

func TestClusterVersion(t *testing.T) {
	inv := collect(t, Options{}, `
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec: {channel: eus-4.18}
status:
  desired: {version: 4.20.3, channels: [stable-4.20, eus-4.20, stable-4.20]}
  conditions:
  - {type: Upgradeable, status: "False", reason: AdminAckRequired, message: "Kubernetes 1.33 removes an API"}
  - {type: Available, status: "True"}
  history:
  - {state: Partial, version: 4.20.3}
  - {state: Partial, version: 4.20.2}
  - {state: Completed, version: 4.19.12}
  - {state: Completed, version: 4.18.1}
  availableUpdates: [{version: 4.20.5}, {version: 4.20.4}]
  conditionalUpdates: [{release: {version: 4.20.4}}, {release: {version: 4.20.6}}]
`, `
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
status: {platform: AWS, platformStatus: {type: VSphere}, controlPlaneTopology: External}
`, `
apiVersion: v1
kind: Namespace
metadata: {name: csi, labels: {pod-security.kubernetes.io/enforce: privileged, pod-security.kubernetes.io/audit: baseline, security.openshift.io/scc.podSecurityLabelSync: "false"}}
`, `
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {pod-security.kubernetes.io/warn: privileged}}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: admin-acks, namespace: openshift-config}
data: {ack-4.12-kube-126-vsphere-migration-in-4.14: "true", ack-4.13-x: "false"}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: admin-acks, namespace: elsewhere}
data: {ack-4.15-x: "true"}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: admin-gates, namespace: openshift-config-managed}
data: {ack-4.19-b: second, ack-4.19-a: first}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: admin-gates, namespace: elsewhere}
data: {ack-4.19-c: none}
`, `
apiVersion: operator.openshift.io/v1
kind: ClusterCSIDriver
metadata: {name: csi.vsphere.vmware.com}
spec: {managementState: Unmanaged}
`, `
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: worker}
spec: {paused: true}
status: {machineCount: 3, updatedMachineCount: 2}
`, `
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: master}
`).Inventory()
	cl := inv.Cluster
	if cl.OpenShift != "4.19.12" || cl.Updating != "4.20.3" || cl.Platform != "VSphere" || !cl.Hosted() {
		t.Errorf("%+v", cl)
	}
	if !slices.Equal(cl.Available, []string{"4.20.4", "4.20.5", "4.20.6"}) {
		t.Errorf("available %v", cl.Available)
	}
	if !slices.Equal(cl.AdminAcks, []string{"ack-4.12-kube-126-vsphere-migration-in-4.14"}) {
		t.Errorf("acks %v", cl.AdminAcks)
	}
	if n := cl.Namespace("csi"); !n.Privileged() || n.Audit != "baseline" || n.Warn != "" || n.Sync != "false" {
		t.Errorf("namespace %+v", n)
	}
	if n := cl.Namespace("default"); n.Privileged() || n.Warn != "privileged" || n.Sync != "" || cl.Namespace("none").Privileged() {
		t.Errorf("namespace %+v", n)
	}
	if len(cl.Evidence) != 3 || !strings.Contains(cl.Evidence[0].Where, "ClusterVersion version status.history[0].version") {
		t.Errorf("evidence %v", cl.Evidence)
	}
	if cl.Channel != "eus-4.18" || !slices.Equal(cl.Channels, []string{"eus-4.20", "stable-4.20"}) || len(cl.Conditional) != 1 || cl.Conditional[0].Release != "4.20.6" {
		t.Errorf("channel %q of %q, conditional %v", cl.Channel, cl.Channels, cl.Conditional)
	}
	at := inventory.Evidence{Where: "ClusterVersion version status.conditions[0].status", Text: "Upgradeable=False"}
	want := inventory.Condition{Type: "Upgradeable", Status: "False", Reason: "AdminAckRequired", Message: "Kubernetes 1.33 removes an API", At: at}
	if c := cl.Condition("Upgradeable"); c == nil || *c != want || cl.Condition("Failing") != nil || cl.Conditions[0].Type != "Available" {
		t.Errorf("%+v", cl.Conditions)
	}
	if g := cl.AdminGates; len(g) != 2 || g[0].Key != "ack-4.19-a" || g[0].Message != "first" || g[1].Key != "ack-4.19-b" {
		t.Errorf("gates %+v", g)
	}
	if d := cl.CSIDrivers; len(d) != 1 || d[0].Name != "csi.vsphere.vmware.com" || d[0].Management != "Unmanaged" {
		t.Errorf("ClusterCSIDrivers %+v", d)
	}
	if p := cl.Pools; len(p) != 2 || p[0].Paused || !p[1].Paused || p[1].Name != "worker" || p[1].Machines != 3 || p[1].Updated != 2 {
		t.Errorf("pools %+v", p)
	}
}

func csv(version, more string) string {
	return "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: windows-machine-config-operator.v" + version + ", namespace: wmco" + more + "\n"
}

func services(version, list string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: windows-services-" + version + ", namespace: openshift-windows-machine-config-operator}\ndata: {files: '[]', services: '" + list + "'}"
}

func TestWMCO(t *testing.T) {
	const proxy = `[{"name":"kubelet","path":"x"},{"name":"csi-proxy","path":"C:\\k\\csi-proxy.exe -windows-service"}]`
	for name, c := range map[string]struct {
		docs []string
		want string
	}{
		"CSV":              {[]string{csv("10.19.1", "}\nstatus: {phase: Succeeded}")}, "10.19.1"},
		"respin":           {[]string{csv("10.17.2-1", "}\nstatus: {phase: Succeeded}")}, "10.17.2"},
		"being replaced":   {[]string{csv("10.19.1", "}\nstatus: {phase: Succeeded}"), csv("10.20.0", "}\nstatus: {phase: Installing}")}, "10.19.1"},
		"newest":           {[]string{csv("10.9.1", "}\nstatus: {phase: Succeeded}"), csv("10.19.0", "}\nstatus: {phase: Succeeded}")}, "10.19.0"},
		"a copy":           {[]string{csv("10.19.1", ", labels: {olm.copiedFrom: wmco}}\nstatus: {phase: Succeeded}")}, ""},
		"Deployment":       {[]string{"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: windows-machine-config-operator, labels: {olm.owner: windows-machine-config-operator.v10.18.0}}"}, "10.18.0"},
		"services alone":   {[]string{services("10.17.1-abc1234", proxy)}, ""},
		"CSV and services": {[]string{services("10.17.1-abc1234", proxy), csv("10.17.2", "}\nstatus: {phase: Succeeded}")}, "10.17.2"},
		"another operator": {[]string{strings.Replace(csv("10.19.1", "}"), "windows-machine", "other-machine", 1)}, ""},
	} {
		if got := collect(t, Options{}, c.docs...).Inventory().Cluster.WMCO; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for want, docs := range map[string][]string{
		"":                 {services("10.17.1-abc1234", proxy)},
		"v10.19.1 ":        {csv("10.19.1", "}")},
		"v10.19.1 Failed":  {csv("10.19.1", "}\nstatus: {phase: Failed, reason: InstallCheckFailed, message: install timeout}")},
		"v10.19.2 Pending": {csv("10.19.2", "}\nstatus: {phase: Pending}"), csv("10.19.1", "}\nstatus: {phase: Replacing}")},
		"v10.20.0 Unknown": {csv("10.9.1", "}\nstatus: {phase: Succeeded}"), csv("10.20.0", "}\nstatus: {phase: Unknown}")},
	} {
		got := ""
		if c := collect(t, Options{}, docs...).Inventory().Cluster.CSV; c != nil {
			got = strings.TrimPrefix(c.Object.Name, "windows-machine-config-operator.") + " " + c.Phase
			if c.Object.Namespace != "wmco" || c.Installed() != (c.Phase == "") || c.Phase == "Failed" && (c.Reason != "InstallCheckFailed" || c.Message != "install timeout") {
				t.Errorf("%+v", c)
			}
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	cl := collect(t, Options{}, services("10.17.1-abc1234", proxy), services("7.1.0-abc1234", `[{"name":"kubelet","path":"x"}]`)).Inventory().Cluster
	if len(cl.Services) != 2 || cl.Services[0].CSIProxy != `C:\k\csi-proxy.exe -windows-service` || cl.Services[1].CSIProxy != "" {
		t.Errorf("services %+v", cl.Services)
	}
	if p := collect(t, Options{}, services("1.1.1-abc1234", "[{")).Inventory().Problems; len(p) != 1 {
		t.Errorf("broken JSON: %v", p)
	}
}

func TestCSIProxyLog(t *testing.T) {
	second := strings.ReplaceAll(windowsNodeYAML, "win-1", "win-2")
	type line struct{ node, text string }
	for name, c := range map[string]struct {
		lines []line
		want  [2]string
	}{
		"one node":          {[]line{{"win-1", "I0101 00:00:00.0 1 main.go:1] Version: v1.1.3-34-g5cb6e2d"}}, [2]string{"1.1.3-34-g5cb6e2d", "nil"}},
		"all agree":         {[]line{{"", "Version: v1.1.3-0-g0211fea"}, {"", "Version: v1.1.3-0-g0211fea"}}, [2]string{"1.1.3-0-g0211fea", "1.1.3-0-g0211fea"}},
		"they differ":       {[]line{{"", "Version: v1.1.3-0-g0211fea"}, {"", "Version: v1.3.0"}}, [2]string{"differ", "differ"}},
		"one of them again": {[]line{{"", "Version: v1.1.3-0-g0211fea"}, {"win-2", "Version: v1.3.0"}}, [2]string{"1.1.3-0-g0211fea", "1.3.0"}},
		"restarted":         {[]line{{"win-1", "Version: v1.1.3-0-g0211fea"}, {"win-1", "Version: v1.3.0"}}, [2]string{"1.3.0", "nil"}},
		"not stamped":       {[]line{{"win-1", "Version: "}, {"win-2", "Version: Unknown"}}, [2]string{"there is none", "wasn't told"}},
		"one isn't stamped": {[]line{{"", "Version: v1.3.0"}, {"", "Version: Unknown"}}, [2]string{"differ", "differ"}},
	} {
		col := collect(t, Options{}, windowsNodeYAML, second)
		for _, l := range c.lines {
			col.CSIProxyLog(l.node, l.text, inventory.Evidence{Where: "csi-proxy.log:1"})
		}
		for i, n := range col.Inventory().Nodes {
			got := "nil"
			if n.CSIProxy != nil {
				got = n.CSIProxy.Version.String() + n.CSIProxy.Reason
			}
			if !strings.Contains(got, c.want[i]) {
				t.Errorf("%s: %s has %q, want %q", name, n.Name, got, c.want[i])
			}
		}
	}
}

func TestProxies(t *testing.T) {
	for containers, want := range map[string]string{
		`[{name: csi-proxy, image: "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy:v1.1.2"}]`:        "1.1.2",
		`[{name: csi-proxy, image: "mirror/renamed:v1.2.0", command: ['C:\csi\csi-proxy.exe']}]`:    "1.2.0",
		`[{name: p, image: "mirror/renamed:v1.2.1", args: ['& .\csi-proxy.exe -windows-service']}]`: "1.2.1",
	} {
		inv := collect(t, Options{}, set("csi-proxy", "containers: "+containers)).Inventory()
		if len(inv.Proxies) != 1 || inv.Proxies[0].Version.Version.String() != want || len(inv.Drivers)+len(inv.SetAside) != 0 {
			t.Errorf("%s: %+v", containers, inv.Proxies)
		}
	}
}
