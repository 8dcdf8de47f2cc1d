package skew_test

import (
	"fmt"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// BenchmarkRules evaluates what a reader makes of a cluster of 5,000 nodes, 500
// of them Windows, with 5,000 Windows pods that use a volume each, and 10,000
// PersistentVolumes and claims, of which every tenth is in-tree. The goal is
// 200 ms, without the readers.
func BenchmarkRules(b *testing.B) {
	c := testCatalog(b)
	for _, shape := range []struct {
		name, from, to string
		change         change
	}{
		{name: "one-hop", from: "4.19", to: "4.20"},
		{name: "six-hops", from: "4.14", to: "4.20"},
		{name: "after-an-update", from: "4.20"},
		{name: "nothing-registered", from: "4.19", to: "4.20", change: registers(nil)},
		{name: "zones", from: "4.19", to: "4.20", change: zoned},
		{name: "no-wmco", from: "4.19", to: "4.20", change: all(wmco(""), proxyDaemonSet("v1.1.3"))},
	} {
		b.Run(shape.name, func(b *testing.B) {
			inv := largeCluster()
			if shape.change != nil {
				shape.change(inv)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := skew.Evaluate(c, inv, skew.Request{From: shape.from, To: shape.to, Now: c.AsOf}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// zoned puts nodes and volumes into three zones.
func zoned(inv *inventory.Inventory) {
	const zone = "topology.csi.vmware.com/k8s-zone"
	for i := range inv.Nodes {
		inv.CSINodes[i].TopologyKeys = map[string][]string{vsphereName: {zone}}
		inv.Nodes[i].Labels[zone] = fmt.Sprint(i % 3)
	}
	for i := range inv.Volumes {
		inv.Volumes[i].Affinity = []inventory.Term{{Expressions: []inventory.Expression{{Key: zone, Operator: "In", Values: []string{fmt.Sprint(i % 3)}}}}}
	}
}

func largeCluster() *inventory.Inventory {
	inv := storageCluster("4.19", "10.19.1")
	inv.LinuxNodes = 4500
	proto, csi := inv.Nodes[0], inv.CSINodes[0]
	inv.Nodes, inv.CSINodes = nil, nil
	for i := range 500 {
		proto.Name = fmt.Sprintf("win-%d", i)
		proto.Labels = map[string]string{"kubernetes.io/os": "windows", "kubernetes.io/hostname": proto.Name}
		csi.Name = proto.Name
		inv.Nodes, inv.CSINodes = append(inv.Nodes, proto), append(inv.CSINodes, csi)
	}
	for i := range 5000 {
		u := inventory.VolumeUse{Node: fmt.Sprintf("win-%d", i%500), Volume: "data", Claim: fmt.Sprintf("shop/data-%d", i), PV: fmt.Sprintf("pv-%d", i), Provisioner: vsphereName}
		if i%10 == 0 {
			u.InTree = inTreeVSphere
		}
		uses(u)(inv)
	}
	for i := range 1000 {
		for _, o := range []inventory.Object{{Kind: "PersistentVolume", Name: fmt.Sprintf("pv-%d", i*10)}, {Kind: "PersistentVolumeClaim", Namespace: "shop", Name: fmt.Sprintf("data-%d", i*10)}} {
			inv.Leftovers = append(inv.Leftovers, inventory.Leftover{Object: o, InTree: inTreeVSphere, Provisioner: vsphereName, ProvisionedBy: inTreeVSphere, At: fact(o.String())})
		}
	}
	return inv
}
