package skew

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// planner chooses what to do, in order: before, during and after every hop. It
// keeps the inventory as the steps so far leave it, and lets the rules judge that
// before it chooses the next step: what a step has done is never asked for again.
type planner struct {
	cat     *catalog.Catalog
	req     Request
	inv     *inventory.Inventory
	journey *journey
	hop     int
	list    []Step
	did     [][]action.Action // of each step
	asked   map[string]bool
	rows    []Row // the result's: they say where the steps have the drivers
}

// plan is what to do about an inventory.
func (e *evaluation) plan() []Step {
	p := &planner{cat: e.cat, req: e.req, inv: scratch(e.inv), journey: e.journey, asked: map[string]bool{}, rows: e.result.Drivers}
	stops := p.journey.stops
	if len(stops) == 1 {
		p.fix("", []string{before, during, after, ""}, stops[0])
	}
	for p.hop = 0; p.hop < len(stops)-1; p.hop++ {
		if p.overTwo() {
			p.controlPlaneOnly(stops[p.hop], stops[p.hop+1], stops[p.hop+2])
			continue
		}
		p.pass(stops[p.hop], stops[p.hop+1])
	}
	p.hop = max(0, len(stops)-2)
	when := after
	if len(stops) == 1 {
		when = ""
	}
	p.add(when, nil, "", action.Check{})
	for i, records := range action.Sequence(p.did) {
		p.list[i].Actions = records
	}
	return p.list
}

// scratch is an inventory that actions can be applied to.
func scratch(inv *inventory.Inventory) *inventory.Inventory {
	c := *inv
	c.Drivers, c.Nodes, c.CSINodes = slices.Clone(inv.Drivers), slices.Clone(inv.Nodes), slices.Clone(inv.CSINodes)
	return &c
}

// pass is one hop: what must be done first, the update itself, and what follows
// it.
func (p *planner) pass(from, to version.OpenShift) {
	p.fix(before, []string{before}, from, to)
	p.moved(func(r *Row) *string { return &r.WindowsBefore })
	w := p.judged(from, to)
	p.update(w, channel(p.inv.Cluster.Channel, to))
	p.take(w, during, []string{during})
	p.operator(w)
	p.follow(to)
}

// follow is what comes after a hop's nodes.
func (p *planner) follow(to version.OpenShift) {
	p.fix(after, []string{before, during, after, ""}, to)
	if p.hop == len(p.journey.stops)-2 {
		p.restPlanned(p.judged(to))
	}
	p.moved(func(r *Row) *string { return &r.WindowsAfter })
}

// moved notes where the steps so far have the Windows drivers of the hop.
func (p *planner) moved(at func(*Row) *string) {
	for i := range p.rows {
		row := &p.rows[i]
		j := slices.IndexFunc(p.inv.Drivers, func(d inventory.Driver) bool { return d.Object.String() == row.Object })
		if row.Hop == p.hop && j >= 0 && p.inv.Drivers[j].Version.Known {
			*at(row) = p.inv.Drivers[j].Version.Version.String()
		}
	}
}

// judged are the rules' answers about the inventory as it is: at rest, or on the
// way to the next stop.
func (p *planner) judged(stops ...version.OpenShift) *evaluation {
	r := p.req
	if r.From = ""; !stops[0].IsZero() {
		r.From = stops[0].String()
	}
	if rest := len(stops) == 1; rest {
		r.To = ""
	} else if p.hop > 0 || r.To != "" {
		r.To = stops[1].String()
	}
	if p.hop < len(p.journey.stops)-2 {
		r.Planned = nil // they are for the time after the last hop
	}
	e := newEvaluation(p.cat, p.inv, r, &journey{stops: stops, problem: p.journey.problem, fix: p.journey.fix})
	e.judgeAll()
	return e
}

// fix takes what is due until nothing new is asked for.
func (p *planner) fix(when string, due []string, stops ...version.OpenShift) {
	const most = 20 // each round changes an object or asks for something new
	for range most {
		if !p.take(p.judged(stops...), when, due) {
			return
		}
	}
}

// take applies what is due, one change of an object at most: what else is asked
// of it is judged again. It tells whether anything was new.
func (p *planner) take(e *evaluation, when string, due []string) bool {
	changed, some := map[string]bool{}, false
	for _, entry := range dueOf(e, due) {
		f := entry.finish()
		actions := entry.do
		if len(actions) == 0 {
			actions = []action.Action{action.ByHand{Text: aboutObject(f), Object: f.Object}}
		}
		key := f.ID + " " + f.Object + " " + entry.same
		if effect(actions) {
			key += " " + summaries(action.Records(actions))
		}
		if p.asked[key] {
			continue
		}
		objects := objectsOf(f, actions)
		if slices.ContainsFunc(objects, func(o string) bool { return changed[o] }) {
			p.join(when, f.ID, actions)
			some = true
			continue
		}
		p.asked[key], some = true, true
		p.add(when, []string{f.ID}, p.ground(entry, when), actions...)
		if effect(actions) {
			for _, o := range objects {
				changed[o] = true
			}
		}
	}
	return some
}

// ground is why a step is done: what follows an update goes by what it has moved.
func (p *planner) ground(e *entry, when string) string {
	if when == after && e.Severity < finding.Block {
		return e.Observed
	}
	return e.Why
}

// dueOf are the entries that ask for something at these times, in the order in
// which it is done.
func dueOf(e *evaluation, times []string) []*entry {
	var list []*entry
	for _, entry := range e.sink.entries {
		asks := entry.Remedy != "" || len(entry.do) > 0
		if asks && !entry.noStep && slices.Contains(times, entry.due) && (entry.Severity > finding.Info || entry.planned) {
			list = append(list, entry)
		}
	}
	rank := func(e *entry) int {
		r := 6 // by hand
		for i, a := range e.do {
			if i == 0 {
				r = action.Rank(a)
			}
		}
		if e.late {
			r++
		}
		return r
	}
	slices.SortStableFunc(list, func(a, b *entry) int {
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

// effect tells whether any of them changes what the rules see.
func effect(list []action.Action) bool {
	return slices.ContainsFunc(list, func(a action.Action) bool {
		switch a := a.(type) {
		case action.ByHand:
			return a.Becomes != nil
		case action.Gather, action.ReadPayload, action.Check:
			return false
		}
		return true
	})
}

func objectsOf(f finding.Finding, list []action.Action) []string {
	objects := []string{f.Object}
	for _, r := range action.Records(list) {
		objects = append(objects, r.Object)
	}
	return objects
}

// join notes that a rule asks for a step that another one asked for.
func (p *planner) join(when, rule string, actions []action.Action) {
	what := summaries(action.Records(actions))
	for i := range p.list {
		if s := &p.list[i]; s.Hop == p.hop && s.When == when && s.What == what && !slices.Contains(s.Rules, rule) {
			s.Rules = append(s.Rules, rule)
			slices.Sort(s.Rules)
		}
	}
}

// add appends a step and applies it.
func (p *planner) add(when string, rules []string, why string, actions ...action.Action) {
	records := action.Records(actions)
	p.list = append(p.list, Step{Hop: p.hop, When: when, What: summaries(records), Actions: records, Why: why, Rules: rules})
	p.did = append(p.did, actions)
	for _, a := range actions {
		a.Apply(p.inv)
	}
}

// restPlanned applies the planned manifests that nothing asked for so far.
func (p *planner) restPlanned(e *evaluation) {
	told := map[string]bool{}
	for _, s := range p.list {
		for _, a := range s.Actions {
			told[a.Object] = true
		}
	}
	for _, d := range e.plannedWindows() {
		if file := plannedFile(d); !told[file] {
			told[file] = true
			p.add(after, nil, "it was planned", e.plannedFileChange(file)...)
		}
	}
}
