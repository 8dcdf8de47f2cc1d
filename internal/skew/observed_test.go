package skew_test

import (
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// observedCases are drivers of which a rule derives that they can't start, and
// whose pods are ready on nodes that list them.
func observedCases() []ruleCase {
	hp := onWindows(hostProcess)
	withPipes := onWindows(func(d *inventory.Driver) { d.HostProcess = true })
	foreign := onWindows(func(d *inventory.Driver) { d.ForeignFlags = []string{"--windows-host-process"} })
	cases := []ruleCase{
		{name: "images of 2022 on 2025", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: oldOn2025()},
		{name: "an image that is gone", id: "NODE003", from: "4.14", inv: storageCluster("4.14", "9.0.2"), change: vsphereFrom("gcr.io/cloud-provider-vsphere/csi/release/driver"), want: finding.Warn,
			says: "the project's image of v3.0.2 is gone with its registry, v3.1.2 is the next", fix: vsphereFrom("registry.example.com/mirror/driver"), count: 1},
		{name: "a build that isn't known", id: "NODE003", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: build(0)},
		{name: "the nodes stay as they are", id: "NODE003", from: "4.21", to: "4.22", inv: clusterOf("4.21", "10.21.0", ebs("v1.54.0")), change: oldOn2025()},
		{name: "and nothing has to wait for it", id: "SKEW001", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: oldOn2025(), want: finding.Info,
			says: "6 minors ahead", does: "nothing has to be done"},
		{name: "pipes", id: "HP002", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: withPipes},
		{name: "no flag", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", azureDisk("v1.32.0")), change: hp},
		{name: "another driver's flag", id: "HP003", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: foreign},
		{name: "the plain image", id: "HP004", from: "4.15", inv: clusterOf("4.15", "10.15.0", azureDisk("v1.29.2")), change: hp},
		{name: "it got the serial number", id: "PROXY004", from: "4.22", inv: storageCluster("4.22", "10.22.1"), change: all(build(26100), at("v3.5.0"), hp)},
		{name: "registrar", id: "REG003", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: onWindows(func(d *inventory.Driver) { d.Registrar.Version = inventory.VersionFact{} })},

		{name: "the flag is for calls that come later", id: "HP003", from: "4.19", inv: clusterOf("4.19", "10.19.1", ebs("v1.39.0")), change: onWindows(flagged(true)), want: finding.Block, fix: onWindows(flagged(false))},
		{name: "a pod isn't ready", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(oldOn2025(), onWindows(func(d *inventory.Driver) { d.Rollout.Ready = 2 })), want: finding.Block, fix: at("v1.56.0")},
		{name: "pods are of the template before", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(oldOn2025(), onWindows(func(d *inventory.Driver) { d.Rollout.Updated = 0 })), want: finding.Block, fix: at("v1.56.0")},
		{name: "a node doesn't list it", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(oldOn2025(), registers(nil, 1)), want: finding.Block, fix: at("v1.56.0")},
		{name: "the other DaemonSet may have registered", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: all(oldOn2025(), func(inv *inventory.Inventory) {
			other := ebs("v1.56.0")
			other.Object.Name = "other"
			inv.Drivers = append(inv.Drivers, other)
		}), want: finding.Block, fix: at("v1.56.0")},
	}
	for i := range cases {
		cases[i].seen = true
	}
	return cases
}

// A rule that is overruled when it fires is one that fires without that.
func TestObservedIsNeeded(t *testing.T) {
	for _, tc := range observedCases() {
		if tc.want != finding.Pass {
			continue
		}
		t.Run(tc.id+" "+tc.name, func(t *testing.T) {
			tc.change(tc.inv)
			unseen(tc.inv)
			req := skew.Request{From: tc.from, To: tc.to}
			if len(findings(t, testCatalog(t), tc.inv, req, tc.id)) == 0 {
				t.Error("it says nothing of a driver that isn't seen either")
			}
		})
	}
}
