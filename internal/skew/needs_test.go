package skew_test

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// TestNothingMissingPasses takes every resource away from every rule that
// needs it: the rule is named as not evaluated and says nothing, and the answer
// is UNKNOWN unless nobody promised a cluster.
func TestNothingMissingPasses(t *testing.T) {
	asked := map[string]bool{}
	for _, to := range []string{"4.20", ""} {
		whole := evaluate(t, storageCluster("4.19", "10.19.1"), skew.Request{To: to})
		for _, rule := range skew.Rules() {
			if !slices.Contains(whole.Evaluated, rule.ID) {
				continue
			}
			asked[rule.ID] = true
			for _, need := range rule.Needs {
				t.Run(rule.ID+" without "+string(need)+" to "+to, func(t *testing.T) {
					lacking(t, rule.ID, need, to)
				})
			}
		}
	}
	for _, rule := range skew.Rules() {
		if !asked[rule.ID] {
			t.Errorf("%s is evaluated neither before nor after an update", rule.ID)
		}
	}
}

func lacking(t *testing.T, id string, need inventory.Resource, to string) {
	for _, static := range []bool{false, true} {
		inv := storageCluster("4.19", "10.19.1")
		unread(need)(inv)
		res := evaluate(t, inv, skew.Request{To: to, Static: static})
		if slices.Contains(res.Evaluated, id) || len(ofRule(res, id)) > 0 {
			t.Errorf("static %t: it was evaluated", static)
		}
		if !slices.ContainsFunc(res.NotEvaluated, func(n skew.NotEvaluated) bool { return n.Rule == id && n.Reason != "" }) {
			t.Errorf("static %t: it isn't listed as not evaluated", static)
		}
		if got := finding.Worst(ofRule(res, "DATA002")) == finding.Unknown; got == static {
			t.Errorf("static %t: DATA002 is UNKNOWN: %t%s", static, got, show(res.Findings))
		}
		if !static && res.Verdict < finding.Unknown {
			t.Errorf("the verdict is %s", res.Verdict)
		}
		part := storageCluster("4.19", "10.19.1")
		part.Read[need] = inventory.Coverage{Count: 1, Reason: "forbidden in 3 namespaces"}
		res = evaluate(t, part, skew.Request{To: to, Static: static})
		if finding.Worst(ofRule(res, "DATA002")) != finding.Unknown {
			t.Errorf("static %t: read in part, and DATA002 isn't UNKNOWN%s", static, show(res.Findings))
		}
	}
}

// evaluate judges at the day of the catalog.
func evaluate(t testing.TB, inv *inventory.Inventory, r skew.Request) *skew.Result {
	t.Helper()
	c := testCatalog(t)
	r.Now = c.AsOf
	res, err := skew.Evaluate(c, inv, r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func ofRule(r *skew.Result, id string) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f finding.Finding) bool { return f.ID != id })
}
