package skew_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// proposalStates are clusters and questions in which a rule may speak of what is
// proposed for a release; told are the proposals that it then tells.
var proposalStates = []struct {
	name      string
	openshift string
	from, to  string
	change    change
	// managed: the catalog says that the release does what is proposed.
	managed bool
	told    int
}{
	{name: "an update to the release", openshift: "4.22", from: "4.22", to: "5.0", told: 1},
	{name: "an update that ends there after others", openshift: "4.20", from: "4.20", to: "5.0", told: 1},
	{name: "an update that isn't complete", openshift: "4.22", change: func(inv *inventory.Inventory) { inv.Cluster.Updating = "5.0.1" }, told: 1},
	{name: "the release itself", openshift: "5.0"},
	{name: "an update before it", openshift: "4.20", from: "4.20", to: "4.21"},
	{name: "a DaemonSet that looks like an operator's", openshift: "4.22", from: "4.22", to: "5.0", change: marked, told: 1},
	{name: "an update to a release that does it", openshift: "4.22", from: "4.22", to: "5.0", managed: true},
	{name: "a release that does it", openshift: "5.0", managed: true},
}

// A proposal is told with its link, and changes neither the verdict nor the plan.
func TestProposals(t *testing.T) {
	for _, tc := range proposalStates {
		t.Run(tc.name, func(t *testing.T) {
			c, err := catalog.Load()
			if err != nil {
				t.Fatal(err)
			}
			p := c.Release("5.0").WindowsProposed
			if p == nil {
				t.Fatal("nothing is proposed for 5.0")
			}
			if tc.managed {
				c.Release("5.0").WindowsManaged = p.Drivers
			}
			judge := func() *skew.Result {
				inv := storageCluster(tc.openshift, fmt.Sprintf("10.%s.1", tc.openshift[2:]))
				if tc.change != nil {
					tc.change(inv)
				}
				r, err := skew.Evaluate(c, inv, skew.Request{From: tc.from, To: tc.to, Now: c.AsOf})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			with := judge()
			told := slices.DeleteFunc(slices.Clone(with.Findings), func(f finding.Finding) bool { return f.Source != p.Source })
			if len(told) != tc.told {
				t.Errorf("the proposal is told %d times, want %d: %s", len(told), tc.told, show(told))
			}
			for _, f := range told {
				if f.Severity != finding.Info || len(f.Actions) > 0 || f.Remedy != "" {
					t.Errorf("a proposal asks for something: %s", show([]finding.Finding{f}))
				}
			}
			c.Release("5.0").WindowsProposed = nil
			without := judge()
			if with.Verdict != without.Verdict || !reflect.DeepEqual(with.Steps, without.Steps) {
				t.Errorf("with the proposal %s and %d steps, without %s and %d", with.Verdict, len(with.Steps), without.Verdict, len(without.Steps))
			}
		})
	}
}
