package skew_test

import (
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// An API server that is neither of the release that --from names nor of the one
// after it belongs to another Kubernetes, with objects of that release loaded.
// OpenShift's narrower rule doesn't bind it.
func TestKubeletOfAnotherKubernetes(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for kubelet, want := range map[string]bool{"v1.32.9": false, "v1.31.9": false, "v1.30.9": true, "v1.35.0": true} {
		inv := &inventory.Inventory{
			Cluster: inventory.Cluster{Kubernetes: "v1.34.1"},
			Nodes:   []inventory.Node{{Name: "win-0", Kubelet: kubelet, Build: 20348}},
			Read:    map[inventory.Resource]inventory.Coverage{inventory.Nodes: {Complete: true, Count: 1}},
		}
		result, err := skew.Evaluate(known, inv, skew.Request{From: "4.19", Now: known.AsOf})
		if err != nil {
			t.Fatal(err)
		}
		blocked := false
		for _, f := range result.Findings {
			blocked = blocked || f.ID == "NODE001" && f.Severity == finding.Block
		}
		if blocked != want {
			t.Errorf("kubelet %s with API server 1.34: blocked %t: %+v", kubelet, blocked, result.Findings)
		}
	}
}
