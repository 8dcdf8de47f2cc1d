package skew_test

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// pooled labels the first node a, the others b.
func pooled(inv *inventory.Inventory) {
	for i := range inv.Nodes {
		inv.Nodes[i].Labels["pool"] = "b"
	}
	inv.Nodes[0].Labels["pool"] = "a"
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

// marked gives the Windows DaemonSets the marks of an operator's.
func marked(inv *inventory.Inventory) {
	onWindows(func(d *inventory.Driver) { d.OperatorManaged = true })(inv)
}
