package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// planner chooses what to do, in order: before, during and after every hop. It
// keeps the inventory as the steps so far leave it, and lets the rules judge that
// before it chooses the next step: what a step has done is never asked for again.
type planner struct {
	cat      *catalog.Catalog
	req      snapshot.Request
	inv      *inventory.Inventory
	route    *snapshot.Route
	hop      int
	list     []Step
	did      [][]action.Action // of each step
	asked    map[string]bool
	evaluate Judge
	moved    func(hop int, when string, inv *inventory.Inventory)
}

// Judged is what the rules say of an inventory, and the first moment that they
// looked at.
type Judged struct {
	Entries []*rules.Entry
	Now     *snapshot.Snapshot
}

// Judge lets the rules look at an inventory on a route.
type Judge func(*inventory.Inventory, snapshot.Request, *snapshot.Route) Judged

func scratch(inv *inventory.Inventory) *inventory.Inventory {
	c := *inv
	c.Drivers, c.Nodes, c.CSINodes, c.Read = slices.Clone(inv.Drivers), slices.Clone(inv.Nodes), slices.Clone(inv.CSINodes), maps.Clone(inv.Read)
	return &c
}

// judged are the rules' answers about the inventory as it is: at rest, or on the
// way to the next stop.
func (p *planner) judged(stops ...version.OpenShift) Judged {
	r := p.req
	if r.From = ""; !stops[0].IsZero() {
		r.From = stops[0].String()
	}
	if rest := len(stops) == 1; rest {
		r.To = ""
	} else {
		r.To = stops[1].String()
	}
	return p.evaluate(p.inv, r, &snapshot.Route{Stops: stops, Problem: p.route.Problem, Fix: p.route.Fix, Unknown: p.route.Unknown})
}

// forget drops, once the first update is made, what the cluster said of it: its
// conditions, and the gates of that update.
func (p *planner) forget() {
	if p.hop == 0 {
		return
	}
	p.inv.Cluster.Conditions, p.inv.Cluster.AdminGates = nil, nil
	delete(p.inv.Read, inventory.AdminGates)
}

// settle takes what is due until nothing is changed any more. It returns what the
// rules say then.
func (p *planner) settle(when string, due []string, stops ...version.OpenShift) Judged {
	const most = 20 // each round changes an object
	e := p.judged(stops...)
	for range most {
		if !p.take(e, when, due) {
			break
		}
		e = p.judged(stops...)
	}
	return e
}

// take applies what is due, one change of an object at most: what else is asked
// of it is judged again. It tells whether anything was changed.
func (p *planner) take(e Judged, when string, due []string) bool {
	changed := map[string]bool{}
	for _, entry := range dueOf(e, due) {
		f := entry.Finish()
		actions := released(e.Now, entry.Said.Do)
		if slices.ContainsFunc(actions, action.IsThere) {
			continue
		}
		if len(actions) == 0 {
			actions = []action.Action{action.ByHand{Text: aboutObject(f), Object: f.Object}}
		}
		key := f.ID + " " + f.Object + " " + entry.Said.Same
		if effect(actions) {
			key += " " + rules.Summaries(action.Records(actions))
		}
		if p.asked[key] {
			continue
		}
		objects := append(snapshot.Map(action.Records(actions), func(r finding.Action) string { return r.Object }), f.Object)
		busy := slices.ContainsFunc(objects, func(o string) bool { return changed[o] })
		p.asked[key] = !busy
		if (busy || !effect(actions)) && p.join(when, f.ID, actions) || busy {
			continue
		}
		why := entry.Why
		if when == rules.After && entry.Severity < finding.Block {
			why = entry.Observed // what follows an update goes by what it has moved
		}
		p.add(when, []string{f.ID}, why, actions...)
		if s := &p.list[len(p.list)-1]; len(s.Commands()) > 0 {
			s.What += entry.Said.Or
		}
		if effect(actions) {
			for _, o := range objects {
				changed[o] = true
			}
		}
	}
	return len(changed) > 0
}

// dueOf are the entries that ask for something at these times, in the order in
// which it is done.
func dueOf(e Judged, times []string) []*rules.Entry {
	var list []*rules.Entry
	for _, entry := range e.Entries {
		asks := entry.Remedy != "" || len(entry.Said.Do) > 0
		if asks && !entry.Said.NoStep && slices.Contains(times, entry.Said.When) && (entry.Severity > finding.Info || entry.Said.PlanInfo) {
			list = append(list, entry)
		}
	}
	rank := func(e *rules.Entry) int {
		r := action.ByHandRank
		if len(e.Said.Do) > 0 {
			r = action.Rank(e.Said.Do[0])
		}
		if e.Said.Late {
			r++
		}
		return r
	}
	slices.SortStableFunc(list, func(a, b *rules.Entry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Severity, a.Severity))
	})
	return list
}

// aboutObject is a remedy that names what it is about.
func aboutObject(f finding.Finding) string {
	if f.Object == "" || strings.Contains(f.Remedy, f.Object) {
		return f.Remedy
	}
	return f.Object + ": " + f.Remedy
}

func effect(list []action.Action) bool {
	return slices.ContainsFunc(list, action.Effect)
}

// join notes that a rule asks for a step too, and tells whether there is such a step:
// in the same words, or of the same commands and of what tells that they are done.
func (p *planner) join(when, rule string, actions []action.Action) (there bool) {
	same := Step{Actions: action.Records(actions)}
	for i := range p.list {
		s := &p.list[i]
		does := s.What == rules.Summaries(same.Actions) || slices.EqualFunc(s.Actions, same.Actions, func(a, b finding.Action) bool {
			return a.Done != "" && a.Done == b.Done && a.Judge == b.Judge && (a.Interrupts != "" || b.Interrupts == "")
		})
		if s.Hop == p.hop && s.When == when && does && slices.Equal(s.Commands(), same.Commands()) {
			s.Rules, there = append(s.Rules, rule), true
			slices.Sort(s.Rules)
			s.Rules = slices.Compact(s.Rules)
		}
	}
	return there
}

func (p *planner) add(when string, ids []string, why string, actions ...action.Action) {
	records := action.Records(actions)
	p.list = append(p.list, Step{Hop: p.hop, When: when, What: rules.Summaries(records), Actions: records, Why: why, Rules: ids})
	p.did = append(p.did, actions)
	action.Apply(p.inv, actions...)
}

// Commands are all that its actions run, in order.
func (s Step) Commands() []string {
	var lines []string
	for _, a := range s.Actions {
		lines = append(lines, a.Lines()...)
	}
	return lines
}

// Step is one thing to do on the way.
type Step struct {
	Hop int `json:"hop"`
	// When is before, during or after that hop; "" where there is none.
	When string `json:"when"`
	// Actions are what is done, in their order.
	Actions []finding.Action `json:"actions,omitempty"`
	// What is one line; Why the ground.
	What  string   `json:"what"`
	Why   string   `json:"why,omitempty"`
	Rules []string `json:"rules,omitempty"`
}
