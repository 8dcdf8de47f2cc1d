package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew"
)

// TestBakeCommand: the command has what the cluster shows of mirror and nodes,
// and a namespace that was read gets the level that it lacks.
func TestBakeCommand(t *testing.T) {
	const plain = "bake manifests csi-driver vsphere --for 4.20 --out vsphere-4.20\n"
	const level = "oc label namespace " + csidriver.OperatorNamespace + " pod-security.kubernetes.io/enforce=privileged --overwrite\n"
	for name, tc := range map[string]struct {
		change   func(*inventory.Inventory, *inventory.Driver)
		has, not string
	}{
		"the project's image": {func(_ *inventory.Inventory, d *inventory.Driver) {
			d.Image.Repository = "registry.k8s.io/csi-vsphere/driver"
		}, plain, "--registry"},
		"a mirror that keeps the path": {func(_ *inventory.Inventory, d *inventory.Driver) {
			d.Image.Repository = "mirror.example.com:5000/ocp/csi-vsphere/driver"
		}, "bake manifests csi-driver vsphere --for 4.20 --registry mirror.example.com:5000/ocp --out vsphere-4.20\n", "--windows"},
		"a mirror that cuts it":        {func(_ *inventory.Inventory, d *inventory.Driver) { d.Image.Repository = "mirror.example.com/driver" }, plain, "--registry"},
		"nodes of 2019":                {func(inv *inventory.Inventory, _ *inventory.Driver) { builds(inv, 17763, 17763, 17763) }, " --windows 2019 --out", "--registry"},
		"nodes of two":                 {func(inv *inventory.Inventory, _ *inventory.Driver) { builds(inv, 17763, 20348, 20348) }, plain, "--windows"},
		"a namespace that wasn't read": {func(*inventory.Inventory, *inventory.Driver) {}, plain, level},
		"a privileged namespace": {func(inv *inventory.Inventory, _ *inventory.Driver) {
			inv.Cluster.Namespaces = []inventory.Namespace{{Name: csidriver.OperatorNamespace, Enforce: "privileged"}}
		}, plain, level},
		"a namespace that isn't": {func(inv *inventory.Inventory, _ *inventory.Driver) {
			inv.Cluster.Namespaces = []inventory.Namespace{{Name: csidriver.OperatorNamespace}}
		}, level + plain, "--registry"},
	} {
		inv := storageCluster("4.19", "10.19.1")
		for i := range inv.Drivers {
			if d := &inv.Drivers[i]; d.OS == "windows" {
				d.Image.Repository = "registry.k8s.io/csi-vsphere/driver"
				tc.change(inv, d)
			}
		}
		remedy := ""
		for _, f := range ofRule(evaluate(t, inv, skew.Request{To: "4.20"}), "HP005") {
			remedy += told(f) + "\n"
		}
		if !strings.Contains(remedy, tc.has) || strings.Contains(remedy, tc.not) {
			t.Errorf("%s: want %q and not %q in\n%s", name, tc.has, tc.not, remedy)
		}
	}
}

func builds(inv *inventory.Inventory, all ...int) {
	for i := range inv.Nodes {
		inv.Nodes[i].Build = all[i]
	}
}

// TestBakeKeepsToItsNodes: what takes the place of a DaemonSet that is for some
// nodes, and has another of its driver beside it, is for the same nodes; what
// stands alone, or is for all nodes, gets what bake writes as it is.
func TestBakeKeepsToItsNodes(t *testing.T) {
	const old = "oc -n openshift-cluster-csi-drivers get daemonset vsphere-windows -o yaml > vsphere-windows-old.yaml\n" +
		"bake manifests csi-driver --upgrade-from vsphere-windows-old.yaml --for 4.20 --mode hostprocess --out vsphere-4.20-vsphere-windows\n" +
		"oc -n openshift-cluster-csi-drivers delete daemonset vsphere-windows\noc apply -f vsphere-4.20-vsphere-windows"
	const plain = "bake manifests csi-driver vsphere --for 4.20 --out vsphere-4.20\noc -n openshift-cluster-csi-drivers delete daemonset vsphere-windows"
	second := func(tag string) change {
		return func(inv *inventory.Inventory) {
			secondPool(inv)
			at(tag)(&inventory.Inventory{Drivers: inv.Drivers[2:]})
		}
	}
	asleep := func(inv *inventory.Inventory) {
		second("v3.3.0")(inv)
		inv.Drivers[2].Scheduling.NodeSelector["pool"] = "z"
	}
	affine := func(inv *inventory.Inventory) {
		second("v3.3.0")(inv)
		inv.Drivers[1].Scheduling = inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}, Terms: poolTerms("a")}
	}
	common := func(inv *inventory.Inventory) {
		second("v3.3.0")(inv)
		inv.Drivers[1].Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "windows", "kubernetes.io/arch": "amd64"}
	}
	for name, tc := range map[string]struct {
		change change
		has    string
	}{
		"another beside it":            {all(narrowed, second("v3.3.0")), old},
		"by affinity":                  {affine, old},
		"another that has moved":       {all(narrowed, second("v3.5.0")), old},
		"alone":                        {narrowed, plain},
		"another without nodes":        {all(narrowed, asleep), plain},
		"for all, and another as well": {common, plain},
		"nodes that weren't read":      {all(narrowed, second("v3.3.0"), unread(inventory.Nodes)), old},
	} {
		inv := storageCluster("4.19", "10.19.1")
		all(pooled, tc.change)(inv)
		res := evaluate(t, inv, skew.Request{To: "4.20"})
		said := ""
		for _, f := range ofRule(res, "HP005") {
			if strings.HasSuffix(f.Object, "/vsphere-windows") {
				said = told(f)
			}
		}
		if !strings.Contains(said, tc.has) || !strings.Contains(plan(res), strings.ReplaceAll(tc.has, "\n", "\n  $ ")) {
			t.Errorf("%s: want\n%s\nin the remedy\n%s\nand in the plan\n%s", name, tc.has, said, plan(res))
		}
	}
}

// TestBakeKeepsToItsNodesLater: so it does at the hops after that, and in Git.
func TestBakeKeepsToItsNodesLater(t *testing.T) {
	inv := pools()
	got := plan(evaluate(t, inv, skew.Request{To: "4.21"}))
	const again = "  $ oc -n openshift-cluster-csi-drivers get daemonset vsphere-windows -o yaml > vsphere-windows-old.yaml\n" +
		"  $ bake manifests csi-driver --upgrade-from vsphere-windows-old.yaml --for 4.21 --mode hostprocess --out vsphere-4.21-vsphere-windows\n" +
		"  $ oc apply -f vsphere-4.21-vsphere-windows\n"
	if !strings.Contains(got, again) {
		t.Errorf("want\n%s\nin\n%s", again, got)
	}
	got = plan(evaluate(t, inv, skew.Request{From: "4.19", To: "4.20", Static: true}))
	const words = "; vsphere-windows-old.yaml holds the present one alone, and the new one keeps its name and nodes: DaemonSet openshift-cluster-csi-drivers/vsphere-b runs the driver on others"
	if !strings.Contains(got, words) || !strings.Contains(got, "\n  $ bake manifests csi-driver --upgrade-from vsphere-windows-old.yaml --for 4.20") {
		t.Error(got)
	}
}

// TestManifestKeepsToItsNodes: the same holds where bake writes no such version.
func TestManifestKeepsToItsNodes(t *testing.T) {
	const words = "; let it keep node selector, affinity and tolerations of the present one: DaemonSet openshift-cluster-csi-drivers/vsphere-b runs the driver on other nodes"
	for _, shared := range []bool{true, false} {
		inv := pools()
		at("v3.5.1")(inv)
		if !shared {
			inv.Drivers = inv.Drivers[:2]
		}
		fs := ofRule(evaluate(t, inv, skew.Request{To: "4.20"}), "HP001")
		if strings.Contains(show(fs), words) != shared {
			t.Errorf("beside another %t: %s", shared, show(fs))
		}
	}
}
