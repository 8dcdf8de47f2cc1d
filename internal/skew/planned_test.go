package skew_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// plannedDrivers are planned DaemonSets of vSphere that fit 4.20, each by its
// name, its pool where it is for one, and its file where that isn't NAME.yaml:
// "b", "b pool", "b pool file".
func plannedDrivers(list ...string) []inventory.Driver {
	var planned []inventory.Driver
	for _, text := range list {
		words := strings.Fields(text)
		d := vsphereHostProcess("v3.5.0")
		d.Object.Name, d.Rollout = words[0], nil
		d.Version.At.Where = words[0] + ".yaml:7"
		if len(words) > 1 && words[1] != "-" {
			d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "windows", "pool": words[1]}
		}
		if len(words) > 2 {
			d.Version.At.Where = words[2] + ":7"
		}
		planned = append(planned, d)
	}
	return planned
}

// pooled labels the first node a, the others b.
func pooled(inv *inventory.Inventory) {
	for i := range inv.Nodes {
		inv.Nodes[i].Labels["pool"] = map[bool]string{true: "a", false: "b"}[i == 0]
	}
}

// narrowed leaves the Windows DaemonSet to pool a, secondPool adds one for b.
func narrowed(inv *inventory.Inventory) {
	onWindows(func(d *inventory.Driver) {
		d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "windows", "pool": "a"}
	})(inv)
}

func secondPool(inv *inventory.Inventory) {
	d := vsphere("v3.3.0")
	d.Object.Name = "vsphere-b"
	d.Scheduling.NodeSelector = map[string]string{"kubernetes.io/os": "windows", "pool": "b"}
	inv.Drivers = append(inv.Drivers, d)
}

// pools is a cluster of 4.19 with a DaemonSet for each of two pools.
func pools() *inventory.Inventory {
	inv := storageCluster("4.19", "10.19.1")
	all(pooled, narrowed, secondPool)(inv)
	return inv
}

// marked gives the Windows DaemonSets the marks of an operator's.
func marked(inv *inventory.Inventory) {
	onWindows(func(d *inventory.Driver) { d.OperatorManaged = true })(inv)
}

// TestPlannedSteps: each planned file is applied once, what it replaces is
// deleted before, and nothing else is; what can't replace is neither applied nor
// makes room for itself.
func TestPlannedSteps(t *testing.T) {
	const remove = "oc -n openshift-cluster-csi-drivers delete daemonset "
	for name, tc := range map[string]struct {
		inv     *inventory.Inventory
		planned []inventory.Driver
		want    []string
		static  bool
	}{
		"under its name":                {storageCluster("4.19", "10.19.1"), plannedDrivers("vsphere-windows"), []string{"oc apply -f vsphere-windows.yaml"}, false},
		"under another":                 {storageCluster("4.19", "10.19.1"), plannedDrivers("other"), []string{remove + "vsphere-windows", "oc apply -f other.yaml"}, false},
		"one for each pool":             {pools(), plannedDrivers("vsphere-windows a", "vsphere-b b"), []string{"oc apply -f vsphere-windows.yaml", "oc apply -f vsphere-b.yaml"}, false},
		"one file for both pools":       {pools(), plannedDrivers("vsphere-windows a all.yaml", "new-b b all.yaml"), []string{remove + "vsphere-b", "oc apply -f all.yaml"}, false},
		"one for both pools":            {pools(), plannedDrivers("other"), []string{remove + "vsphere-windows", remove + "vsphere-b", "oc apply -f other.yaml"}, false},
		"two in place of one":           {storageCluster("4.19", "10.19.1"), plannedDrivers("one a", "two b"), []string{remove + "vsphere-windows", "oc apply -f one.yaml", "oc apply -f two.yaml"}, false},
		"for nodes without the driver":  {storageCluster("4.19", "10.19.1"), plannedDrivers("vsphere-windows a", "other b"), []string{"oc apply -f vsphere-windows.yaml", "oc apply -f other.yaml"}, false},
		"for some of its nodes":         {storageCluster("4.19", "10.19.1"), plannedDrivers("other a"), nil, false},
		"under its name, for some":      {storageCluster("4.19", "10.19.1"), plannedDrivers("vsphere-windows a"), nil, false},
		"for none":                      {storageCluster("4.19", "10.19.1"), plannedDrivers("other z"), nil, false},
		"no nodes, as wide":             {storageCluster("4.19", "10.19.1"), plannedDrivers("other"), []string{remove + "vsphere-windows", "oc apply -f other.yaml"}, true},
		"no nodes, narrower":            {storageCluster("4.19", "10.19.1"), plannedDrivers("other a"), nil, true},
		"no nodes, as narrow":           {pools(), plannedDrivers("vsphere-windows a", "other b"), []string{"oc apply -f vsphere-windows.yaml", remove + "vsphere-b", "oc apply -f other.yaml"}, true},
		"no nodes, of another affinity": {affine("a"), affinely("b", plannedDrivers("other")), nil, true},
		"no nodes, of the same":         {affine("a"), affinely("a", plannedDrivers("other")), []string{remove + "vsphere-windows", "oc apply -f other.yaml"}, true},
		"a Linux one of its driver":     {storageCluster("4.19", "10.19.1"), linuxOnly(plannedDrivers("other")), nil, false},
	} {
		pooled(tc.inv)
		if name == "for nodes without the driver" {
			narrowed(tc.inv)
		}
		if tc.static {
			unread(inventory.Nodes, inventory.CSINodes, inventory.Pods)(tc.inv)
		}
		var got []string
		for _, s := range evaluate(t, tc.inv, skew.Request{To: "4.20", Planned: tc.planned}).Steps {
			for _, line := range s.Commands() {
				if strings.HasPrefix(line, remove) || strings.HasPrefix(line, "oc apply -f ") && strings.HasSuffix(line, ".yaml") && !strings.Contains(line, "/") {
					got = append(got, line)
				}
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

// affine has its Windows DaemonSet on nodes of a pool by their affinity.
func affine(pool string) *inventory.Inventory {
	inv := storageCluster("4.19", "10.19.1")
	inv.Drivers[1].Scheduling.Terms = poolTerms(pool)
	return inv
}

func affinely(pool string, list []inventory.Driver) []inventory.Driver {
	for i := range list {
		list[i].Scheduling.Terms = poolTerms(pool)
	}
	return list
}

func poolTerms(pool string) []inventory.Term {
	return []inventory.Term{{Expressions: []inventory.Expression{{Key: "pool", Operator: "In", Values: []string{pool}}}}}
}

func linuxOnly(list []inventory.Driver) []inventory.Driver {
	for i := range list {
		list[i].OS = "linux"
	}
	return list
}

// TestPlannedPool: of two pools one is planned. The other's DaemonSet is judged
// as it stays, and its row names no planned version.
func TestPlannedPool(t *testing.T) {
	inv := pools()
	at("v3.1.2")(inv)
	res := evaluate(t, inv, skew.Request{To: "4.20", Planned: plannedDrivers("vsphere-windows a")})
	var rows []string
	for _, r := range res.Drivers {
		rows = append(rows, r.Object+" "+r.WindowsPlanned)
	}
	if want := []string{"DaemonSet openshift-cluster-csi-drivers/vsphere-windows 3.5.0", "DaemonSet openshift-cluster-csi-drivers/vsphere-b "}; !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
	for _, f := range ofRule(res, "SKEW001") {
		if still := strings.Contains(f.Why, "with the planned manifests"); f.Severity == finding.Warn && still != strings.HasSuffix(f.Object, "vsphere-b") {
			t.Errorf("%s: %s", f.Object, f.Why)
		}
	}
}

// TestPlannedAfterBake: a planned manifest takes the place of what an earlier
// step put there, under the name that was read.
func TestPlannedAfterBake(t *testing.T) {
	for name, want := range map[string]string{
		"other":           "oc -n openshift-cluster-csi-drivers delete daemonset vsphere-windows\n  $ oc apply -f other.yaml\n",
		"vsphere-windows": "  $ oc apply -f vsphere-windows.yaml\n  $ oc replace -f vsphere-windows.yaml\n",
	} {
		inv := storageCluster("4.19", "10.19.1")
		at("v3.5.0")(inv)
		got := plan(evaluate(t, inv, skew.Request{To: "4.20", Planned: plannedDrivers(name)}))
		before, after, _ := strings.Cut(got, "\n-- after\n")
		if strings.Contains(before, "delete daemonset") || !strings.Contains(before, "oc replace -f vsphere-4.20-vsphere-windows/08-daemonset.yaml\n") || !strings.Contains(after, want) {
			t.Error(got)
		}
	}
}

// What is planned for the release that the cluster is at is judged too.
func TestPlannedForThePresentRelease(t *testing.T) {
	inv := storageCluster("4.20", "10.20.0")
	planned := inv.Drivers[slices.IndexFunc(inv.Drivers, func(d inventory.Driver) bool { return d.OS == "windows" })]
	planned.Version.Version.Major = 99
	result := evaluate(t, inv, skew.Request{From: "4.20.3", To: "4.20", Planned: []inventory.Driver{planned}})
	if !slices.ContainsFunc(result.Drivers, func(r skew.Row) bool { return strings.HasPrefix(r.WindowsPlanned, "99.") }) {
		t.Errorf("the planned driver isn't in the table: %+v", result.Drivers)
	}
}
