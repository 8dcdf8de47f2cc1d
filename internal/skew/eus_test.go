package skew_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// A Control Plane Only update leaves WMCO out, moves two minors, and brings it
// back. Whatever says that it is one, the plan is the same.
func TestControlPlaneOnly(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const want = `0 before: acknowledge ack-4.18-kube-1.32-api-removals-in-4.19
0 before: pause the machine config pool worker: its nodes stay at their release
0 before: remove WMCO's Subscription and ClusterServiceVersion; its namespace, the Secret cloud-private-key and the ConfigMap windows-instances stay, and Windows pods run on
0 during: take updates from the channel eus-4.20; then update the cluster to 4.19
1 before: acknowledge ack-4.19-admissionregistration-v1beta1-api-removals-in-4.20
1 during: update the cluster to 4.20
1 after: resume the machine config pool worker, and wait until its nodes have followed
1 after: install WMCO again, for 4.20, and wait until every Windows node is ready and shows its version
1 after: replace DaemonSet openshift-cluster-csi-drivers/vsphere-windows by the one that bake writes, v3.5.0
1 after: check the result: versions, rollouts, registered drivers, migrated volumes
`
	paused := []inventory.Pool{{Name: "master"}, {Name: "worker", Paused: true}}
	for name, change := range map[string]func(*inventory.Inventory, *skew.Request){
		"asked for":   func(_ *inventory.Inventory, r *skew.Request) { r.EUS = true },
		"a channel":   func(inv *inventory.Inventory, _ *skew.Request) { inv.Cluster.Channel = "eus-4.18" },
		"paused pool": func(inv *inventory.Inventory, _ *skew.Request) { inv.Cluster.Pools = paused },
	} {
		inv, r := storageCluster("4.18", "10.18.0"), skew.Request{From: "4.18.30", To: "4.20", Now: "2026-11-21"}
		change(inv, &r)
		result, err := skew.Evaluate(known, inv, r)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range result.Steps {
			fmt.Fprintf(&got, "%d %s: %s\n", s.Hop, s.When, s.What)
		}
		want := want
		if name == "paused pool" { // it stays so, and is left so by the way back
			want = strings.Replace(want, "0 before: pause the machine config pool worker: its nodes stay at their release\n", "", 1)
		}
		if got.String() != want {
			t.Errorf("%s:\n%s", name, got.String())
		}
	}
	// One minor is none, and from an odd minor it begins a hop later.
	for to, hops := range map[string]string{"4.19": "", "4.21": "01"} {
		result, err := skew.Evaluate(known, storageCluster("4.18", "10.18.0"), skew.Request{From: "4.18.30", To: to, EUS: true, Now: "2026-11-21"})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, s := range result.Steps {
			for _, a := range s.Actions {
				if a.Kind == "pause-pool" || a.Kind == "resume-pool" {
					got += fmt.Sprint(s.Hop)
				}
			}
		}
		if got != hops {
			t.Errorf("to %s: pools are touched in hops %q", to, got)
		}
	}
}
