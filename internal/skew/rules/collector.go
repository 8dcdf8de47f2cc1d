package rules

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// identity is what makes two findings the same at two moments.
type identity struct {
	rule, object, same string
	severity           finding.Severity
}

// Entry is a finding and what may still be said about it.
type Entry struct {
	finding.Finding
	// Said is what the rule said: Finding.When has no update to name at rest.
	Said    Finding
	Hop     int
	moment  string
	again   []string // hops and phases where it holds too
	changed string   // how it looks at the last of them, if otherwise
}

// Collector gathers what rules say, each finding once: at the first moment where it is
// true. One collector serves all moments.
type Collector struct {
	Entries    []*Entry
	byIdentity map[identity]*Entry
}

// Add takes what a rule says at a moment; of a driver, where there is a view.
func (c *Collector) Add(r *Rule, snap *snapshot.Snapshot, v *snapshot.View, d Finding) {
	d.fill(r, snap, v)
	if d.Object == "" && v != nil {
		d.Object = v.DaemonSet.Object.String()
	}
	d.Source = cmp.Or(d.Source, Explain(r).Source)
	if r.Starts && !d.Later && v.SeenRegistered(d.Nodes) {
		return
	}
	if v != nil && d.Severity > finding.Info && v.Unscheduled() {
		d.Severity, d.Why, d.NoStep = finding.Info, "it runs on no node, so nothing is hit; "+d.Why, true
	}
	if lack := snap.Partial[d.Object]; lack != "" && r.Lacks && d.Severity == finding.Block {
		d.Severity, d.NoStep = finding.Unknown, true
		d.Why = "its manifest isn't whole, it " + lack + ", and the rest of it may have what is missing; if not: " + d.Why
		d.Or, d.Remedy = "", "give the whole manifest, as it is applied, and check it again"
	}
	d.Do = Owned(snap, d.Do)
	key := identity{r.ID, d.Object, d.Same, d.Severity}
	if old := c.byIdentity[key]; old != nil {
		old.holdsAgain(snap, d)
		return
	}
	if d.Severity == finding.Info && !d.PlanInfo && c.worse(key) {
		return // later, and only worth knowing: it was told as something to fix
	}
	e := &Entry{
		Finding: finding.Finding{
			ID: r.ID, Severity: d.Severity, Object: d.Object, Observed: d.Observed, Expected: d.Expected,
			Why: d.Why, Remedy: d.Remedy, When: d.When, Source: d.Source,
			Phase: string(snap.Phase), Hop: snap.HopName(), Evidence: evidenceLines(d.Evidence),
		},
		Said: d, Hop: snap.Hop, moment: snap.Moment(),
	}
	if snap.Hops == 0 {
		e.When = "" // there is no update to be before or after
	}
	if c.byIdentity == nil {
		c.byIdentity = map[identity]*Entry{}
	}
	c.byIdentity[key] = e
	c.Entries = append(c.Entries, e)
}

// worse tells whether it was told already as something to fix.
func (c *Collector) worse(key identity) bool {
	for severity := finding.Warn; severity <= finding.Block; severity++ {
		key.severity = severity
		if c.byIdentity[key] != nil {
			return true
		}
	}
	return false
}

func (e *Entry) holdsAgain(snap *snapshot.Snapshot, d Finding) {
	moment := snap.Moment()
	if moment == e.moment {
		return // another driver says the same
	}
	if !slices.Contains(e.again, moment) {
		e.again = append(e.again, moment)
	}
	if d.When == After && snap.Hop == e.Hop && (d.Remedy != "" || len(d.Do) > 0) {
		e.Remedy, e.Said.Do, e.Said.Or = d.Remedy, d.Do, d.Or // what is due after the update goes by what Linux is then
	}
	e.changed = ""
	if d.Observed != e.Observed {
		e.changed = moment + ": " + d.Observed
	}
}

// Finish is the finding with what later moments added to it.
func (e *Entry) Finish() finding.Finding {
	f := e.Finding
	f.Actions = action.Records(e.Said.Do)
	f.Remedy = cmp.Or(f.Remedy, Summaries(f.Actions)) + e.Said.Or
	if e.changed != "" {
		f.Observed += "; " + e.changed
	}
	if n := len(e.again); n > 0 && f.Severity > finding.Info {
		f.Why += ". It still holds after " + e.again[n-1] + " unless it is fixed"
	}
	return f
}
