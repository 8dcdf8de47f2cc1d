package skew_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestPlan compares the steps with what a person has read and found right.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		inv            *inventory.Inventory
		change         change
		static         bool
	}{
		{name: "vsphere-4.14-4.20", to: "4.20", inv: wmcoSample("4.14", "9.0.1", "v3.0.2")},
		{name: "vsphere-sample-4.14-4.20", to: "4.20", inv: wmcoSample("4.14", "9.0.1", "v3.3.0")},
		{name: "vsphere-tag-only-4.19-4.20", to: "4.20.3", inv: wmcoSample("4.19", "10.19.1", "v3.5.0")},
		{name: "vsphere-in-tree-4.12-4.15", to: "4.15", inv: storageCluster("4.12", "7.2.0"), change: all(noWindows, registers(nil), inTreeVolumes(inTreeVSphere, vsphereName, "VSphere"))},
		{name: "azure-file-in-tree-4.12-4.15", to: "4.15", inv: storageCluster("4.12", "7.2.0"), change: all(noDrivers, registers(nil), inTreeVolumes(inTreeAzureFile, azureFileName, "Azure"))},
		{name: "azure-disk-latest-4.16-4.19", to: "4.19", inv: clusterOf("4.16", "10.16.1", azureDisk("latest"))},
		{name: "ebs-pair-4.16-4.19", to: "4.19", inv: clusterOf("4.16", "10.16.1", ebs("v1.26.1"))},
		{name: "vsphere-4.21-5.0", to: "5.0", inv: wmcoSample("4.21", "10.21.0", "v3.6.0"), change: onWindows(hostProcess)},
		{name: "vsphere-server-2025-4.22", inv: wmcoSample("4.22", "10.22.1", "v3.3.0"), change: build(26100)},
		{name: "vsphere-server-2025-4.19-4.20", to: "4.20", inv: wmcoSample("4.19", "10.19.1", "v3.3.0"), change: build(26100)},
		{name: "azure-disk-server-2025-4.18-4.20", to: "4.20", inv: clusterOf("4.18", "10.18.0", azureDisk("v1.28.1")), change: onNodes(func(n *inventory.Node) { n.Build = 26100 }, 1)},
		{name: "ebs-twice-4.16-4.17", to: "4.17", inv: clusterOf("4.16", "10.16.1", ebs("v1.26.1")), change: func(inv *inventory.Inventory) {
			d := ebs("latest")
			d.Object.Name = "ebs-new"
			inv.Drivers = append(inv.Drivers, d)
		}},
		{name: "vsphere-replaced-with-an-old-registrar-4.19-4.21", to: "4.21", inv: wmcoSample("4.19", "10.19.1", "v3.5.0"), change: onWindows(func(d *inventory.Driver) { d.Registrar.Version = tagFact("v1.2.0") })},
		{name: "proxy-lost-4.12-4.14", to: "4.14", inv: clusterOf("4.12", "7.2.0", azureFile("v1.21.0"))},
		{name: "static-4.17-4.18", from: "4.17", to: "4.18", inv: clusterOf("4.17", "10.17.1", azureDisk("v1.29.7")), static: true, change: unread(inventory.Nodes, inventory.CSINodes, inventory.Pods)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.inv)
			}
			res := evaluate(t, c.inv, skew.Request{From: c.from, To: c.to, Static: c.static})
			golden(t, filepath.Join("testdata", "plan", c.name+".txt"), plan(res))
			repeatsNothing(t, res)
		})
	}
}

// wmcoSample is a cluster with vSphere's Windows DaemonSet as WMCO's repository
// shows it.
func wmcoSample(openshift, wmco, tag string) *inventory.Inventory {
	inv := storageCluster(openshift, wmco)
	onWindows(func(d *inventory.Driver) {
		d.Object.Name, d.Container = "vmware-vsphere-csi-driver-node-windows", "vsphere-csi-node"
		d.Image.Repository, d.ServiceAccount = "registry.k8s.io/csi-vsphere/driver", "vmware-vsphere-csi-driver-node-sa"
	})(inv)
	at(tag)(inv)
	return inv
}

func noDrivers(inv *inventory.Inventory) { inv.Drivers = nil }

func inTreeVolumes(plugin, provisioner, platform string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Platform = platform
		uses(inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: provisioner, InTree: plugin})(inv)
		inv.Leftovers = []inventory.Leftover{{Object: inventory.Object{Kind: "PersistentVolume", Name: "pv-1"}, InTree: plugin, Provisioner: provisioner, ProvisionedBy: plugin, At: fact("PersistentVolume pv-1")}}
	}
}

// plan writes steps as a person would read them.
func plan(r *skew.Result) string {
	var b strings.Builder
	hop, when := -1, ""
	for _, s := range r.Steps {
		if s.Hop != hop {
			hop, when = s.Hop, ""
			if len(r.Hops) > 0 {
				fmt.Fprintf(&b, "== %s -> %s\n", r.Hops[hop].From, r.Hops[hop].To)
			}
		}
		if s.When != when {
			when = s.When
			fmt.Fprintf(&b, "-- %s\n", when)
		}
		fmt.Fprintf(&b, "%s  [%s]\n", s.What, strings.Join(s.Rules, " "))
		for _, lines := range s.Commands() {
			for line := range strings.SplitSeq(lines, "\n") {
				fmt.Fprintf(&b, "  $ %s\n", line)
			}
		}
		if s.Why != "" {
			fmt.Fprintf(&b, "  why: %s\n", s.Why)
		}
	}
	return b.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./internal/skew -update writes it again):\n%s", file, got)
	}
}

// repeatsNothing holds a plan to saying each thing once a hop, and to being in
// order.
func repeatsNothing(t *testing.T, r *skew.Result) {
	t.Helper()
	order := map[string]int{"before": 0, "during": 1, "after": 2}
	if len(r.Hops) == 0 {
		order = map[string]int{"": 0}
	}
	said := map[string]bool{}
	last := r.Steps[0]
	for _, s := range r.Steps {
		key := fmt.Sprint(s.Hop, s.What)
		if said[key] {
			t.Errorf("hop %d says it twice: %s", s.Hop, s.What)
		}
		said[key] = true
		if _, known := order[s.When]; !known {
			t.Errorf("%q is no time: %s", s.When, s.What)
		}
		if s.Hop < last.Hop || s.Hop == last.Hop && order[s.When] < order[last.When] {
			t.Errorf("out of order: %+v", s)
		}
		last = s
	}
}

// TestSameCommandsAreOneStep: what two rules ask for in other words is one step, with
// what it interrupts.
func TestSameCommandsAreOneStep(t *testing.T) {
	for _, to := range []string{"", "4.21"} {
		inv := storageCluster("4.20", "10.20.0")
		proxyDaemonSet("v1.1.2")(inv)
		for i, s := range evaluate(t, inv, skew.Request{To: to}).Steps {
			deletes := strings.Contains(strings.Join(s.Commands(), "\n"), "delete daemonset/csi-proxy")
			if deletes != (i == 0) {
				t.Errorf("to %q: step %d: %+v", to, i, s)
			}
			if deletes && (strings.Join(s.Rules, " ") != "PROXY005 PROXY007" || s.Actions[0].Interrupts == "") {
				t.Errorf("to %q: %+v", to, s)
			}
		}
	}
}

// A plan for manifests alone changes each driver in the hops in which one for the cluster does.
func TestStaticPlanLosesNoStep(t *testing.T) {
	drivers := map[string]inventory.Driver{
		"vsphere": vsphere("v3.0.2"), "vsphere with the tag alone": vsphere("v3.5.0"), "ebs": ebs("v1.12.0"), "ebs latest": ebs("latest"),
		"azure-disk": azureDisk("v1.27.0"), "azure-disk latest": azureDisk("latest"), "azure-file": azureFile("v1.27.0"),
	}
	for name, d := range drivers {
		for _, eus := range []bool{false, true} {
			changed := map[bool]string{}
			for _, static := range []bool{false, true} {
				inv := clusterOf("4.14", "9.0.2", d)
				unread(inventory.Nodes, inventory.CSINodes, inventory.Pods)(inv)
				for _, s := range evaluate(t, inv, skew.Request{To: "4.20", Static: static, EUS: &eus}).Steps {
					if strings.Contains(s.What, d.Object.Name) {
						changed[static] += fmt.Sprintln(s.Hop, s.When, s.Rules)
					}
				}
			}
			if changed[false] != changed[true] || changed[true] == "" {
				t.Errorf("%s, eus %t: for the cluster\n%sfor the manifests\n%s", name, eus, changed[false], changed[true])
			}
		}
	}
}
