package skew

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// The values of draft.When: relative to the hop at which the finding is made.
const (
	before = "before"
	during = "during"
	after  = "after"
)

// draft is what a rule says; sink makes a finding of it.
type draft struct {
	Severity finding.Severity
	// Object is left empty by per-driver rules: it is the DaemonSet.
	Object string
	// Observed and Expected are facts without a verb of judgement; Why says what
	// goes wrong. Remedy is an exact command or manifest action, When its time.
	Observed, Expected, Why, Remedy, When string
	// Do are the actions that Remedy puts in words. A rule writes no command into
	// Remedy.
	Do []action.Action
	// Source is empty where the rule's own holds.
	Source   string
	Evidence []inventory.Evidence
	// Same tells findings of one rule about one object apart, where there may be
	// several at one moment; it is part of what makes a fact the same later.
	Same string
	// Nodes are those on which the driver can't start or register, for a rule
	// that says so; nil: all that it runs on.
	Nodes []*inventory.Node
	// Later says that a rule of that kind speaks of what the driver does after it
	// registered.
	Later bool
	// PlanInfo puts it into the plan though it is INFO.
	PlanInfo bool
	// NoStep keeps it out of the plan: another finding's or the path's own step
	// does it.
	NoStep bool
	// Late puts its step behind those of its kind that change drivers.
	Late bool
}

// fact is what makes two findings the same at two moments.
type fact struct {
	rule, object, same string
	severity           finding.Severity
}

// entry is a finding and what may still be said about it.
type entry struct {
	finding.Finding
	hop     int
	moment  string
	due     string // before, during or after, where Finding.When has no update to name
	do      []action.Action
	same    string
	noStep  bool
	late    bool
	planned bool     // in the plan though it is INFO
	again   []string // hops and phases where it holds too
	changed string   // how it looks at the last of them, if otherwise
}

// sink gathers what rules say, each fact once: at the first moment where it is
// true. One sink serves all moments.
type sink struct {
	rule    *rule
	world   *world
	view    *view
	entries []*entry
	byFact  map[fact]*entry
}

// add takes a draft of the rule and the moment that are being evaluated.
func (s *sink) add(d draft) {
	if d.Object == "" && s.view != nil {
		d.Object = s.view.D.Object.String()
	}
	if d.Source == "" {
		d.Source = s.rule.Source
	}
	if s.rule.starts && !d.Later && s.world.refuted(d.Object, d.Nodes) {
		return
	}
	if s.view != nil && d.Severity > finding.Info && s.view.asleep() {
		d.Severity, d.Why, d.NoStep = finding.Info, "it runs on no node, so nothing is hit; "+d.Why, true
	}
	if lack := s.world.partial[d.Object]; lack != "" && s.rule.lacks && d.Severity == finding.Block {
		d.Severity, d.NoStep = finding.Unknown, true
		d.Why = "its manifest isn't whole, it " + lack + ", and the rest of it may have what is missing; if not: " + d.Why
		d.Remedy = "give the whole manifest, as it is applied, and check it again"
	}
	d.Do = s.world.owned(d.Do)
	key := fact{s.rule.ID, d.Object, d.Same, d.Severity}
	if old := s.byFact[key]; old != nil {
		old.holdsAgain(s.world, d)
		return
	}
	if d.Severity == finding.Info && !d.PlanInfo && s.worse(key) {
		return // later, and only worth knowing: it was told as something to mend
	}
	e := &entry{
		Finding: finding.Finding{
			ID: s.rule.ID, Severity: d.Severity, Object: d.Object, Observed: d.Observed, Expected: d.Expected,
			Why: d.Why, Remedy: d.Remedy, When: d.When, Source: d.Source,
			Phase: string(s.world.Phase), Hop: s.world.hopName(), Evidence: lines(d.Evidence),
		},
		due: d.When, hop: s.world.Hop, moment: s.world.moment(), same: d.Same, do: d.Do, noStep: d.NoStep, late: d.Late, planned: d.PlanInfo,
	}
	if s.world.Hops == 0 {
		e.When = "" // there is no update to be before or after
	}
	s.byFact[key] = e
	s.entries = append(s.entries, e)
}

// worse tells whether a fact was told already as something to mend.
func (s *sink) worse(key fact) bool {
	for severity := finding.Warn; severity <= finding.Block; severity++ {
		key.severity = severity
		if s.byFact[key] != nil {
			return true
		}
	}
	return false
}

func (e *entry) holdsAgain(w *world, d draft) {
	moment := w.moment()
	if moment == e.moment {
		return // another driver says the same
	}
	if !slices.Contains(e.again, moment) {
		e.again = append(e.again, moment)
	}
	if d.When == after && w.Hop == e.hop && (d.Remedy != "" || len(d.Do) > 0) {
		e.Remedy, e.do = d.Remedy, d.Do // what is due after the update goes by what Linux is then
	}
	e.changed = ""
	if d.Observed != e.Observed {
		e.changed = moment + ": " + d.Observed
	}
}

// finish is the finding with what later moments added to it.
func (e *entry) finish() finding.Finding {
	f := e.Finding
	f.Actions = action.Records(e.do)
	f.Remedy = cmp.Or(f.Remedy, summaries(f.Actions))
	if e.changed != "" {
		f.Observed += "; " + e.changed
	}
	if n := len(e.again); n > 0 && f.Severity > finding.Info {
		f.Why += ". It still holds after " + e.again[n-1] + " unless it is mended"
	}
	return f
}

// summaries are actions in words.
func summaries(list []finding.Action) string {
	var texts []string
	for _, a := range list {
		texts = append(texts, a.Summary)
	}
	return strings.Join(texts, "; then ")
}

// lines writes evidence as finding.Finding holds it.
func lines(list []inventory.Evidence) []string {
	var out []string
	for _, e := range list {
		s := e.Where
		if e.Text != "" {
			s += ": " + e.Text
		}
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
