package skew_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
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
0 during: switch to channel eus-4.20; then update the cluster to 4.19
1 before: acknowledge ack-4.19-admissionregistration-v1beta1-api-removals-in-4.20
1 during: update the cluster to 4.20
1 after: resume the machine config pool worker, and wait until its nodes have followed
1 after: install WMCO again, for 4.20, and wait until every Windows node is ready and shows its version
1 after: replace DaemonSet openshift-cluster-csi-drivers/vsphere-windows by the one that bake writes, v3.5.0
1 after: check the result: versions, rollouts, registered drivers, migrated volumes
`
	paused := []inventory.Pool{{Name: "master"}, {Name: "worker", Paused: true}}
	for name, change := range map[string]func(*inventory.Inventory, *skew.Request){
		"asked for":   func(_ *inventory.Inventory, r *skew.Request) { r.EUS = new(true) },
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
		if name == "paused pool" { // it stays so, is left so by the way back, and may have been for another reason
			want = strings.Replace(want, "0 before: pause the machine config pool worker: its nodes stay at their release\n", "", 1)
			want = strings.Replace(want, "pool worker, and wait", "pool worker (it was paused before this plan), and wait", 1)
		}
		for _, s := range result.Steps {
			if s.Actions[0].Kind == "resume-pool" && (s.Actions[0].Judge != "") != (name == "paused pool") {
				t.Errorf("%s: %+v", name, s.Actions[0])
			}
		}
		if got.String() != want {
			t.Errorf("%s:\n%s", name, got.String())
		}
	}
	// The rest of the way is minor by minor.
	result, err := skew.Evaluate(known, storageCluster("4.18", "10.18.0"), skew.Request{From: "4.18.30", To: "4.21", EUS: new(true), Now: "2026-11-21"})
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
	if got != "01" {
		t.Errorf("to 4.21: pools are touched in hops %q", got)
	}
}

// One that is half done is planned to its end: WMCO, which was removed, isn't updated first,
// and the pools that were paused are resumed.
func TestControlPlaneOnlyHalfWay(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	inv := storageCluster("4.18", "10.18.0")
	inv.Cluster.OpenShift, inv.Cluster.WMCO, inv.Cluster.Channel, inv.Cluster.Kubernetes = "4.19.10", "", "eus-4.20", ""
	inv.Cluster.Pools = []inventory.Pool{{Name: "master"}, {Name: "infra"}, {Name: "worker", Paused: true}}
	result, err := skew.Evaluate(known, inv, skew.Request{To: "4.20", Now: "2026-11-21"})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, s := range result.Steps {
		fmt.Fprintf(&got, "%s: %s\n", s.When, s.What)
	}
	const want = `before: acknowledge ack-4.19-admissionregistration-v1beta1-api-removals-in-4.20
during: update the cluster to 4.20
after: resume the machine config pool worker (it was paused before this plan), and wait until its nodes have followed
after: install WMCO again, for 4.20, and wait until every Windows node is ready and shows its version
after: replace DaemonSet openshift-cluster-csi-drivers/vsphere-windows by the one that bake writes, v3.5.0
after: check the result: versions, rollouts, registered drivers, migrated volumes
`
	if got.String() != want {
		t.Error(got.String())
	}
}

// What isn't one for sure is planned minor by minor, and the admin has the last word.
func TestNoControlPlaneOnly(t *testing.T) {
	infra := []inventory.Pool{{Name: "master"}, {Name: "worker"}, {Name: "infra", Paused: true}}
	for name, change := range map[string]func(*inventory.Inventory, *skew.Request){
		"one of two pools is paused": func(inv *inventory.Inventory, _ *skew.Request) { inv.Cluster.Pools = infra },
		"the control plane's pool": func(inv *inventory.Inventory, _ *skew.Request) {
			inv.Cluster.Pools = []inventory.Pool{{Name: "master", Paused: true}}
		},
		"refused": func(inv *inventory.Inventory, r *skew.Request) {
			inv.Cluster.Channel, r.EUS = "eus-4.18", new(false)
		},
	} {
		inv, r := storageCluster("4.18", "10.18.0"), skew.Request{From: "4.18.30", To: "4.20", Now: "2026-11-21"}
		change(inv, &r)
		if result := evaluate(t, inv, r); result.ControlPlaneOnly != "" || slices.ContainsFunc(result.Steps, func(s skew.Step) bool { return strings.Contains(s.What, "remove WMCO") }) {
			t.Errorf("%s: %s\n%v", name, result.ControlPlaneOnly, result.Steps)
		}
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]string{{"4.18.30", "4.19"}, {"4.19.3", "4.21"}} {
		_, err := skew.Evaluate(known, storageCluster(way[0][:4], "10.18.0"), skew.Request{From: way[0], To: way[1], EUS: new(true)})
		if err == nil || !strings.Contains(err.Error(), "there is none") {
			t.Errorf("%v: %v", way, err)
		}
	}
}

// The cluster says what the update waits for that it is about to make, not later ones.
func TestLaterGates(t *testing.T) {
	for name, cluster := range map[string]func(*inventory.Inventory){
		"it was asked, and waits for nothing": func(inv *inventory.Inventory) {
			inv.Cluster.Conditions = []inventory.Condition{{Type: "Available", Status: "True"}}
		},
		"its gates were read": func(inv *inventory.Inventory) {
			inv.Read[inventory.AdminGates] = inventory.Coverage{Complete: true}
		},
	} {
		for _, eus := range []bool{false, true} {
			inv := storageCluster("4.18", "10.18.0")
			cluster(inv)
			var acks []int
			for _, s := range evaluate(t, inv, skew.Request{From: "4.18.30", To: "4.20", EUS: &eus}).Steps {
				if strings.HasPrefix(s.What, "acknowledge ") {
					acks = append(acks, s.Hop)
				}
			}
			if !slices.Equal(acks, []int{1}) {
				t.Errorf("%s, eus %t: acknowledged in hops %v", name, eus, acks)
			}
		}
	}
}

// An update that isn't complete is waited for, and isn't begun again.
func TestUnfinishedUpdate(t *testing.T) {
	for _, c := range []struct {
		updating, to, first string
		begins              bool
	}{
		{"4.18.40", "4.19", "wait until the update to 4.18.40 is complete, then run the check again", true},
		{"4.19.3", "4.19", "wait until the update to 4.19.3 is complete, then run the check again", false},
		{"4.19.3", "4.19.3", "wait until the update to 4.19.3 is complete, then run the check again", false},
		{"4.19.3", "", "wait until the update to 4.19.3 is complete, then run the check again", false},
		{"4.19.3", "4.19.5", "wait until the update to 4.19.3 is complete, then run the check again", true},
	} {
		inv := storageCluster("4.18", "10.18.0")
		inv.Cluster.OpenShift, inv.Cluster.Updating = "4.18.30", c.updating
		inv.Cluster.Conditions = []inventory.Condition{{Type: "Failing", Status: "True", Reason: "ClusterOperatorDegraded", Message: "etcd is degraded"}}
		result := evaluate(t, inv, skew.Request{To: c.to})
		begins := slices.ContainsFunc(result.Steps, func(s skew.Step) bool { return strings.Contains(s.What, "update the cluster to") })
		if result.Verdict < finding.Warn || len(result.Steps) == 0 || result.Steps[0].What != c.first || begins != c.begins {
			t.Errorf("%s on the way to %q: %s, %v", c.updating, c.to, result.Verdict, result.Steps)
		}
		if !slices.ContainsFunc(result.Findings, func(f finding.Finding) bool {
			return strings.Contains(f.Why, "ClusterOperatorDegraded: etcd is degraded")
		}) {
			t.Errorf("%s on the way to %q: it doesn't say why: %v", c.updating, c.to, result.Findings)
		}
	}
}
