package skew_test

import (
	"fmt"
	"testing"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// BenchmarkRules evaluates a cluster of 500 Windows nodes, ten pods a node.
func BenchmarkRules(b *testing.B) {
	c := testCatalog(b)
	inv := storageCluster("4.19", "10.19.1")
	proto, csi := inv.Nodes[0], inv.CSINodes[0]
	inv.Nodes, inv.CSINodes = nil, nil
	for i := range 500 {
		proto.Name, csi.Name = fmt.Sprintf("win-%d", i), fmt.Sprintf("win-%d", i)
		inv.Nodes, inv.CSINodes = append(inv.Nodes, proto), append(inv.CSINodes, csi)
		for j := range 10 {
			u := inventory.VolumeUse{Node: proto.Name, Volume: "data", Claim: fmt.Sprintf("shop/data-%d-%d", i, j), Provisioner: vsphereName}
			if j == 0 {
				u.InTree = inTreeVSphere
			}
			uses(u)(inv)
		}
	}
	registers(nil, 1, 2, 3)(inv)
	for b.Loop() {
		if _, err := skew.Evaluate(c, inv, skew.Request{From: "4.19", To: "4.20", Now: "2026-11-21"}); err != nil {
			b.Fatal(err)
		}
	}
}
