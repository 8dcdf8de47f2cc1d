package skew_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew"
	"github.com/winbake/winbake/internal/version"
)

const (
	vsphereName   = "csi.vsphere.vmware.com"
	azureFileName = "file.csi.azure.com"
	azureDiskName = "disk.csi.azure.com"
)

// change makes one inventory another.
type change func(*inventory.Inventory)

// ruleCase is one inventory and what one rule says of it.
type ruleCase struct {
	name     string
	from, to string
	inv      *inventory.Inventory
	planned  []inventory.Driver
	change   change
	id       string
	// want is the worst severity of the rule; Pass: it doesn't speak.
	want finding.Severity
	// says must be in the observation, does in the remedy.
	says, does string
	// mend does what the remedy asks for; the rule must be silent then.
	mend change
	// mendPlanned takes the place of planned, where that is to be mended.
	mendPlanned []inventory.Driver
	// count is how many findings of the rule there are, 0 for any number.
	count int
}

func runRuleCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	c := testCatalog(t)
	for _, tc := range cases {
		t.Run(tc.id+" "+tc.name, func(t *testing.T) {
			inv := tc.inv
			if tc.change != nil {
				tc.change(inv)
			}
			req := skew.Request{From: tc.from, To: tc.to, Planned: tc.planned, Now: "2026-11-21"}
			fs := findings(t, c, inv, req, tc.id)
			if got := finding.Worst(fs); got != tc.want {
				t.Fatalf("%s, want %s: %s", got, tc.want, show(fs))
			}
			if tc.count > 0 && len(fs) != tc.count {
				t.Errorf("%d findings, want %d: %s", len(fs), tc.count, show(fs))
			}
			for _, f := range fs {
				whole(t, f)
			}
			checkWords(t, tc, fs)
			switch {
			case tc.mend != nil:
				tc.mend(inv)
			case tc.mendPlanned != nil:
				req.Planned = tc.mendPlanned
			case tc.want > finding.Info:
				t.Fatal("a case that fires needs a change that mends it")
			default:
				return
			}
			if fs := findings(t, c, inv, req, tc.id); finding.Worst(fs) > finding.Info {
				t.Errorf("still there after its remedy: %s", show(fs))
			}
		})
	}
}

// testCatalog is the embedded one, in which 5.0 deploys the drivers that the
// enhancement names: in which 5.x that comes may still change.
func testCatalog(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c, err := catalog.Load()
	if err != nil {
		tb.Fatal(err)
	}
	c.Release("5.0").WindowsManaged = []string{"azure-file", "vsphere"}
	return c
}

func checkWords(t *testing.T, tc ruleCase, fs []finding.Finding) {
	t.Helper()
	if tc.want != finding.Pass && !slices.ContainsFunc(fs, func(f finding.Finding) bool {
		return f.Severity == tc.want && strings.Contains(f.Observed, tc.says) && strings.Contains(f.Remedy, tc.does)
	}) {
		t.Errorf("none observes %q and remedies by %q: %s", tc.says, tc.does, show(fs))
	}
}

// whole checks that a finding says all that a person needs.
func whole(t *testing.T, f finding.Finding) {
	t.Helper()
	for name, s := range map[string]string{"object": f.Object, "observed": f.Observed, "expected": f.Expected, "why": f.Why, "source": f.Source} {
		if s == "" {
			t.Errorf("%s has no %s: %+v", f.ID, name, f)
		}
	}
	if f.Severity > finding.Info && (f.Remedy == "" || len(f.Evidence) == 0) {
		t.Errorf("%s has no remedy or no evidence: %+v", f.ID, f)
	}
	if !slices.Contains([]string{"before", "during", "after"}, f.When) {
		t.Errorf("%s: due %q", f.ID, f.When)
	}
}

// findings are those of one rule.
func findings(t *testing.T, c *catalog.Catalog, inv *inventory.Inventory, r skew.Request, id string) []finding.Finding {
	t.Helper()
	res, err := skew.Evaluate(c, inv, r)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(res.Findings), func(f finding.Finding) bool { return f.ID != id })
}

func show(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "\n  %s %s [%s] %s\n    observed %s\n    remedy %s", f.ID, f.Severity, f.Phase, f.Object, f.Observed, f.Remedy)
	}
	return cmp.Or(b.String(), "nothing")
}

// storageCluster is a healthy cluster with three Windows nodes and vSphere's
// driver on Linux and Windows.
func storageCluster(openshift, wmco string) *inventory.Inventory {
	o, err := version.ParseOpenShift(openshift)
	if err != nil {
		panic(err)
	}
	kube := fmt.Sprintf("v1.%d.4", o.Minor+13)
	inv := &inventory.Inventory{
		Sources:    []inventory.Source{{Kind: "cluster", Name: "test"}},
		Cluster:    inventory.Cluster{OpenShift: openshift + ".30", Kubernetes: kube, Platform: "VSphere", WMCO: wmco, Evidence: []inventory.Evidence{fact("ClusterVersion version")}},
		LinuxNodes: 3,
		Read:       map[inventory.Resource]inventory.Coverage{},
	}
	for _, r := range []inventory.Resource{inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods, inventory.Volumes, inventory.Claims, inventory.ClusterVersion, inventory.Services} {
		inv.Read[r] = inventory.Coverage{Complete: true, Count: 1}
	}
	for i := range 3 {
		name := fmt.Sprintf("win-%d", i)
		n := inventory.Node{Name: name, Labels: map[string]string{"kubernetes.io/os": "windows", "kubernetes.io/hostname": name}, Build: 20348,
			OSImage: "Windows Server 2022 Datacenter", Kubelet: kube, Ready: true, At: fact("Node " + name)}
		if wmco != "" {
			n.WMCO, n.DesiredWMCO = wmco+"-1a2b3c4", wmco+"-1a2b3c4"
		}
		inv.Nodes = append(inv.Nodes, n)
		inv.CSINodes = append(inv.CSINodes, inventory.CSINode{Name: name, Drivers: []string{vsphereName}, At: fact("CSINode " + name)})
	}
	linux := inventory.Driver{Object: inventory.Object{Kind: "DaemonSet", Namespace: "openshift-cluster-csi-drivers", Name: "vmware-vsphere-csi-driver-node"}, OS: "linux",
		Provisioner: vsphereName, Line: "vsphere", OperatorManaged: true, Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}},
		Rollout: &inventory.Rollout{Strategy: "RollingUpdate", Desired: 3, Ready: 3, Updated: 3, Observed: true}, Evidence: []inventory.Evidence{fact("DaemonSet vmware-vsphere-csi-driver-node")}}
	inv.Drivers = []inventory.Driver{linux, windowsDriver("vsphere", vsphereName, "v3.3.0", "disk-v1", "filesystem-v1", "volume-v1", "system-v1alpha1")}
	return inv
}

// windowsDriver is a pipe-mode Windows DaemonSet.
func windowsDriver(line, provisioner, tag string, pipes ...string) inventory.Driver {
	object := inventory.Object{Kind: "DaemonSet", Namespace: "openshift-cluster-csi-drivers", Name: line + "-windows"}
	d := inventory.Driver{Object: object, OS: "windows", Provisioner: provisioner, Line: line, Container: "driver",
		Image:      inventory.Image{Reference: "mirror.example/" + line + ":" + tag, Repository: "mirror.example/" + line, Tag: tag},
		Version:    tagFact(tag),
		Registrar:  &inventory.Sidecar{Container: "node-driver-registrar", Image: inventory.Image{Reference: "mirror.example/registrar:v2.7.0", Tag: "v2.7.0"}, Version: tagFact("v2.7.0")},
		Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}},
		Rollout:    &inventory.Rollout{Strategy: "RollingUpdate", Desired: 3, Ready: 3, Updated: 3, Observed: true},
		Evidence:   []inventory.Evidence{fact(object.String())}}
	for _, p := range pipes {
		group, v, _ := strings.Cut(p, "-")
		d.Pipes = append(d.Pipes, inventory.Pipe{Group: group, Version: v, At: fact(object.String() + " volumes")})
	}
	return d
}

func tagFact(tag string) inventory.VersionFact {
	v, err := version.ParseDriver(tag)
	if err != nil {
		return inventory.VersionFact{Reason: err.Error(), At: fact("image")}
	}
	return inventory.VersionFact{Version: v, Known: true, By: "tag", At: fact("image")}
}

func fact(where string) inventory.Evidence { return inventory.Evidence{Where: where} }

// onNodes changes the nodes of these indexes, all of them without any.
func onNodes(do func(*inventory.Node), which ...int) change {
	return func(inv *inventory.Inventory) {
		for i := range inv.Nodes {
			if len(which) == 0 || slices.Contains(which, i) {
				do(&inv.Nodes[i])
			}
		}
	}
}

func wmco(v string, which ...int) change {
	return onNodes(func(n *inventory.Node) { n.WMCO, n.DesiredWMCO = v, v }, which...)
}

func build(b int) change { return onNodes(func(n *inventory.Node) { n.Build = b }) }

// registers sets what the CSINodes of these nodes list.
func registers(drivers []string, which ...int) change {
	return func(inv *inventory.Inventory) {
		for i := range inv.CSINodes {
			if len(which) == 0 || slices.Contains(which, i) {
				inv.CSINodes[i].Drivers = drivers
			}
		}
	}
}

// noCSINode takes the CSINodes of these nodes away.
func noCSINode(which ...int) change {
	return func(inv *inventory.Inventory) {
		for _, i := range slices.Backward(which) {
			inv.CSINodes = slices.Delete(inv.CSINodes, i, i+1)
		}
	}
}

// onWindows changes the Windows DaemonSets.
func onWindows(do func(*inventory.Driver)) change {
	return func(inv *inventory.Inventory) {
		for i := range inv.Drivers {
			if inv.Drivers[i].OS == "windows" {
				do(&inv.Drivers[i])
			}
		}
	}
}

// onlyWindows makes d the one Windows DaemonSet.
func onlyWindows(d inventory.Driver) change {
	return func(inv *inventory.Inventory) {
		inv.Drivers = append(slices.DeleteFunc(inv.Drivers, func(d inventory.Driver) bool { return d.OS == "windows" }), d)
	}
}

func noWindows(inv *inventory.Inventory) {
	inv.Drivers = slices.DeleteFunc(inv.Drivers, func(d inventory.Driver) bool { return d.OS == "windows" })
}

// uses adds a volume of a Windows pod.
func uses(u inventory.VolumeUse) change {
	return func(inv *inventory.Inventory) {
		u.Pod = inventory.Object{Kind: "Pod", Namespace: "shop", Name: fmt.Sprintf("web-%d", len(inv.Volumes))}
		u.At = fact(u.Pod.String())
		inv.Volumes = append(inv.Volumes, u)
	}
}

func noVolumes(inv *inventory.Inventory) { inv.Volumes = nil }

// unread makes a resource unread and takes its objects away.
func unread(rs ...inventory.Resource) change {
	return func(inv *inventory.Inventory) {
		for _, r := range rs {
			inv.Read[r] = inventory.Coverage{Reason: "not in these manifests"}
			switch r {
			case inventory.Nodes:
				inv.Nodes = nil
			case inventory.CSINodes:
				inv.CSINodes = nil
			case inventory.Pods:
				inv.Volumes = nil
			default:
			}
		}
	}
}

// proxyDaemonSet adds a DaemonSet that runs csi-proxy itself.
func proxyDaemonSet(tag string) change {
	return func(inv *inventory.Inventory) {
		inv.Proxies = append(inv.Proxies, inventory.Proxy{Object: inventory.Object{Kind: "DaemonSet", Namespace: "kube-system", Name: "csi-proxy"},
			Image:   inventory.Image{Reference: "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy:" + tag, Repository: "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy", Tag: tag},
			Version: tagFact(tag), Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}}, At: fact("DaemonSet kube-system/csi-proxy")})
	}
}

func noProxies(inv *inventory.Inventory) { inv.Proxies = nil }

// proxyLog is what the log of csi-proxy on nodes says, "" for a line without a
// version.
func proxyLog(line string, which ...int) change {
	return onNodes(func(n *inventory.Node) {
		f := tagFact(line)
		f.By, f.At = "log", fact("csi-proxy.log of "+n.Name)
		n.CSIProxy = &f
	}, which...)
}

// all does several changes.
func all(changes ...change) change {
	return func(inv *inventory.Inventory) {
		for _, c := range changes {
			c(inv)
		}
	}
}

// services is WMCO's list of services, with csi-proxy or without.
func services(wmco, csiProxy string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Services = []inventory.ServiceList{{WMCO: wmco, Names: []string{"kubelet"}, CSIProxy: csiProxy, At: fact("ConfigMap windows-services-" + wmco)}}
	}
}
