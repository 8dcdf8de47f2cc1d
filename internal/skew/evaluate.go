package skew

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/plan"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/admission"
	"github.com/winbake/winbake/internal/skew/rules/after"
	"github.com/winbake/winbake/internal/skew/rules/data"
	"github.com/winbake/winbake/internal/skew/rules/hostprocess"
	"github.com/winbake/winbake/internal/skew/rules/intree"
	"github.com/winbake/winbake/internal/skew/rules/node"
	"github.com/winbake/winbake/internal/skew/rules/proxy"
	"github.com/winbake/winbake/internal/skew/rules/registration"
	"github.com/winbake/winbake/internal/skew/rules/update"
	"github.com/winbake/winbake/internal/skew/rules/versions"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Evaluate judges an inventory by a catalog, and plans what to do. Its errors are
// *fault.Error: a release that can't be read, a target that is older than the
// cluster.
func Evaluate(c *catalog.Catalog, inv *inventory.Inventory, r snapshot.Request) (*Result, error) {
	j, err := snapshot.NewRoute(c, inv, r)
	if err != nil {
		return nil, err
	}
	e := judgeAll(c, inv, r, j)
	e.sum()
	if !r.NoPlan {
		e.plan()
	}
	return e.result, nil
}

func judgeAll(c *catalog.Catalog, inv *inventory.Inventory, r snapshot.Request, j *snapshot.Route) *evaluation {
	e := &evaluation{base: snapshot.New(c, inv, r, j), result: &Result{Hops: j.Hops()}}
	e.split()
	for _, snap := range e.base.Moments() {
		e.judge(snap)
	}
	return e
}

// evaluation is the work on one Result.
type evaluation struct {
	// base is the cluster, before any moment of its route.
	base   *snapshot.Snapshot
	found  rules.Collector
	result *Result
	// active are the rules that have what they need.
	active []*rules.Rule
	// each moment's views, to make rows of
	moments []*snapshot.Snapshot
}

// split sorts the rules that apply into those that can be evaluated and those
// that can't.
func (e *evaluation) split() {
	updates, underway := len(e.base.Route.Stops) > 1, e.base.Underway()
	for i := range all {
		r, reason := &all[i], ""
		switch {
		case r.Asks == rules.OfRest && underway: // a request without a target asks for that check
			reason = "the update to " + e.base.Inventory.Cluster.Updating + " isn't complete; check again when it is"
		case r.Asks == rules.OfHops && !updates, r.Asks >= rules.OfRest && updates && !underway:
			continue
		default:
			for _, need := range r.Needs {
				e.base.Needed[need] = append(e.base.Needed[need], r.ID)
			}
			reason = e.base.Missing(r.Needs)
		}
		if reason != "" {
			e.result.NotEvaluated = append(e.result.NotEvaluated, NotEvaluated{r.ID, reason})
			continue
		}
		e.active = append(e.active, r)
		e.result.Evaluated = append(e.result.Evaluated, r.ID)
	}
}

func (e *evaluation) judge(snap *snapshot.Snapshot) {
	e.moments = append(e.moments, snap)
	for _, r := range e.active {
		if r.At != nil && !slices.Contains(r.At, snap.Phase) {
			continue
		}
		if r.Cluster != nil {
			r.Cluster(snap, func(d rules.Finding) { e.found.Add(r, snap, nil, d) })
		}
		if r.Driver == nil {
			continue
		}
		for _, v := range snap.Views {
			r.Driver(v, func(d rules.Finding) { e.found.Add(r, snap, v, d) })
		}
	}
}

func (e *evaluation) sum() {
	r := e.result
	if from := e.base.Route.Stops[0]; !from.IsZero() {
		r.From = from.String()
	}
	if len(r.Hops) > 0 {
		r.To, r.ControlPlaneOnly = e.base.Route.End().String(), e.base.ControlPlaneOnly()
	}
	for _, entry := range e.found.Entries {
		r.Findings = append(r.Findings, entry.Finish())
	}
	finding.Sort(r.Findings)
	r.Drivers = e.rows()
	r.sumUp()
	slices.SortStableFunc(r.NotEvaluated, func(a, b NotEvaluated) int { return cmp.Compare(a.Rule, b.Rule) })
}

func (e *evaluation) plan() {
	e.result.Steps = plan.For(e.base, func(inv *inventory.Inventory, r snapshot.Request, j *snapshot.Route) plan.Judged {
		judged := judgeAll(e.base.Catalog, inv, r, j)
		return plan.Judged{Entries: judged.found.Entries, Now: judged.moments[0]}
	}, e.result.moved)
}

// all are the rules, in the order of Rules and of Result.Evaluated.
var all = slices.Concat(
	versions.Rules, hostprocess.Rules, proxy.Rules, registration.Rules, intree.Rules, update.Acknowledgements,
	after.Rules, node.Rules, admission.Rules, update.Rules, data.Rules,
)

// Rules lists every rule.
func Rules() []Rule {
	var list []Rule
	for i := range all {
		list = append(list, rules.Explain(&all[i]))
	}
	return list
}

// Explain finds a rule by its ID.
func Explain(id string) (Rule, bool) {
	i := slices.IndexFunc(all, func(r rules.Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rules.Explain(&all[i]), true
}

// ExplainRetired finds a rule that was taken out by its ID.
func ExplainRetired(id string) (Retired, bool) { return rules.ExplainRetired(id) }
