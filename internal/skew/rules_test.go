package skew_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// families are all tables of rules.
var families = []func() []ruleCase{
	distanceCases, pairCases, versionCases,
	hostProcessCases, hostProcessFlagCases, crossingCases, kubeletCases, operatorCases, buildCases, runtimeCases, windowsCases, containerdCases,
	releaseCases, coverageCases, operatorHubCases,
	proxyAbsentCases, proxyMountsCases, proxyWMICCases, proxyOwnersCases, afterCases, inTreeGateCases, inTreeElsewhereCases, registeredCases, topologyCases,
	doubleDriverCases, registrarCases, pathCases, agreementCases, observedCases, updateCases, admissionCases,
}

func TestRules(t *testing.T) {
	for _, family := range families {
		runRuleCases(t, family())
	}
}

// derived are the rules that say that a driver can't start or register, which
// what is seen refutes.
var derived = []string{"HP002", "HP003", "HP004", "NODE003", "NODE005", "PROXY004", "REG003"}

// unseen is an inventory that tells nothing of a Windows driver's pods.
var unseen = onWindows(func(d *inventory.Driver) { d.Rollout = nil })

// ruleCase is one inventory and what one rule says of it.
type ruleCase struct {
	name     string
	from, to string
	inv      *inventory.Inventory
	// static: there is no cluster behind the manifests.
	static bool
	// now is the day of the check; "" is the catalog's.
	now string
	// know changes the catalog.
	know   func(*catalog.Catalog)
	change change
	id     string
	// want is the worst severity of the rule; Pass: it doesn't speak.
	want finding.Severity
	// says must be in the observation, does in the remedy.
	says, does string
	// fix does what the remedy asks for; the rule must say INFO at most then.
	fix change
	// fixedAsk does so where the remedy is of the command line or the catalog.
	fixedAsk func(*skew.Request, *catalog.Catalog)
	// seen: the pods of the Windows driver are seen to be ready.
	seen bool
	// count is how many findings of the rule there are, 0 for any number.
	count int
}

// fixes tells whether the case has what the property of every rule needs.
func (tc *ruleCase) fixes() bool { return tc.fix != nil || tc.fixedAsk != nil }

func runRuleCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.id+" "+tc.name, func(t *testing.T) { tc.run(t) })
	}
}

// catalog is the shared one, or the case's own where it changes it.
func (tc *ruleCase) catalog(t *testing.T) *catalog.Catalog {
	c := testCatalog(t)
	if tc.know == nil && tc.fixedAsk == nil {
		return c
	}
	c, err := copyOf(c)
	if err != nil {
		t.Fatal(err)
	}
	if tc.know != nil {
		tc.know(c)
	}
	return c
}

func (tc *ruleCase) run(t *testing.T) {
	c := tc.catalog(t)
	inv := tc.inv
	if tc.change != nil {
		tc.change(inv)
	}
	if !tc.seen && slices.Contains(derived, tc.id) {
		unseen(inv)
	}
	req := skew.Request{From: tc.from, To: tc.to, Static: tc.static, Now: cmp.Or(tc.now, c.AsOf)}
	fs := findings(t, c, inv, req, tc.id)
	if got := finding.Worst(fs); got != tc.want {
		t.Fatalf("%s, want %s: %s", got, tc.want, show(fs))
	}
	if tc.count > 0 && len(fs) != tc.count {
		t.Errorf("%d findings, want %d: %s", len(fs), tc.count, show(fs))
	}
	for _, f := range fs {
		whole(t, f)
	}
	tc.checkWords(t, fs)
	if !tc.fixes() {
		if tc.want > finding.Info {
			t.Fatal("a case that fires needs a change that fixes it")
		}
		return
	}
	if tc.fix != nil {
		tc.fix(inv)
	}
	if tc.fixedAsk != nil {
		tc.fixedAsk(&req, c)
	}
	if fs := findings(t, c, inv, req, tc.id); finding.Worst(fs) > finding.Info {
		t.Errorf("still there after its remedy: %s", show(fs))
	}
}

func (tc *ruleCase) checkWords(t *testing.T, fs []finding.Finding) {
	t.Helper()
	if (tc.want != finding.Pass || tc.says != "") && !slices.ContainsFunc(fs, func(f finding.Finding) bool {
		return f.Severity == tc.want && strings.Contains(f.Observed, tc.says) && strings.Contains(told(f), tc.does)
	}) {
		t.Errorf("none observes %q and remedies by %q: %s", tc.says, tc.does, show(fs))
	}
}

// whole checks that a finding says all that a person needs.
func whole(t *testing.T, f finding.Finding) {
	t.Helper()
	for name, s := range map[string]string{"object": f.Object, "observed": f.Observed, "expected": f.Expected, "why": f.Why, "source": f.Source} {
		if s == "" {
			t.Errorf("%s has no %s: %+v", f.ID, name, f)
		}
	}
	if f.Severity > finding.Info && (f.Remedy == "" || len(f.Evidence) == 0) {
		t.Errorf("%s has no remedy or no evidence: %+v", f.ID, f)
	}
	typable(t, f)
	if f.Hop == "" && f.When != "" {
		t.Errorf("%s: due %q, and there is no update", f.ID, f.When)
	}
	if f.Hop != "" && f.Remedy != "" && !slices.Contains([]string{"before", "during", "after"}, f.When) {
		t.Errorf("%s: due %q", f.ID, f.When)
	}
}

// findings are those of one rule.
func findings(t *testing.T, c *catalog.Catalog, inv *inventory.Inventory, r skew.Request, id string) []finding.Finding {
	t.Helper()
	res, err := skew.Evaluate(c, inv, r)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(res.Findings), func(f finding.Finding) bool { return f.ID != id })
}

func show(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "\n  %s %s [%s] %s\n    observed %s\n    remedy %s", f.ID, f.Severity, f.Phase, f.Object, f.Observed, told(f))
	}
	return cmp.Or(b.String(), "nothing")
}
