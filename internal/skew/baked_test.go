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
			inv.Cluster.Namespaces, inv.Cluster.PrivilegedNamespaces = []string{csidriver.OperatorNamespace}, []string{csidriver.OperatorNamespace}
		}, plain, level},
		"a namespace that isn't": {func(inv *inventory.Inventory, _ *inventory.Driver) {
			inv.Cluster.Namespaces = []string{csidriver.OperatorNamespace}
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
			remedy += f.Remedy + "\n"
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
