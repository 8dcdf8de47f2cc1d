package skew

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// Evaluate judges an inventory by a catalog. Its errors are *fault.Error: a
// release that can't be read, a target that is older than the cluster.
func Evaluate(c *catalog.Catalog, inv *inventory.Inventory, r Request) (*Result, error) {
	j, err := newJourney(c, inv, r)
	if err != nil {
		return nil, err
	}
	e := newEvaluation(c, inv, r, j)
	e.judgeAll()
	return e.finish(), nil
}

func newEvaluation(c *catalog.Catalog, inv *inventory.Inventory, r Request, j *journey) *evaluation {
	e := &evaluation{
		index:   newIndex(c, inv, r),
		journey: j,
		sink:    &sink{byFact: map[fact]*entry{}},
		result:  &Result{Hops: j.hops()},
	}
	e.stops = j.stops
	return e
}

// judgeAll lets the rules that apply look at every moment.
func (e *evaluation) judgeAll() {
	e.split()
	for _, w := range e.worlds() {
		e.judge(w)
	}
}

// evaluation is the work on one Result.
type evaluation struct {
	*index
	journey *journey
	sink    *sink
	result  *Result
	// active are the rules that have what they need.
	active []*rule
	// each moment's views, to make rows of
	moments []*world
}

// split sorts the rules that apply into those that can be evaluated and those
// that can't.
func (e *evaluation) split() {
	for i := range rules {
		r := &rules[i]
		if reason := e.tooEarly(r); reason != "" {
			e.result.NotEvaluated = append(e.result.NotEvaluated, NotEvaluated{r.ID, reason})
			continue
		}
		if !e.applies(r) {
			continue
		}
		for _, need := range r.Needs {
			e.needed[need] = append(e.needed[need], r.ID)
		}
		if reason := e.missing(r.Needs); reason != "" {
			e.result.NotEvaluated = append(e.result.NotEvaluated, NotEvaluated{r.ID, reason})
			continue
		}
		e.active = append(e.active, r)
		e.result.Evaluated = append(e.result.Evaluated, r.ID)
	}
}

// applies tells whether a rule has a question to ask of what is checked.
func (e *evaluation) applies(r *rule) bool {
	updates := len(e.journey.stops) > 1
	switch r.asks {
	case ofHops:
		return updates
	case ofRest:
		return !updates
	case ofState:
		return !updates || e.underway()
	case always:
	}
	return true
}

// underway tells whether the update that is checked is one that the cluster
// itself is in the middle of, and no other was asked for.
func (x *index) underway() bool { return x.req.To == "" && x.inv.Cluster.Updating != "" }

// tooEarly says why a rule of the check after an update must wait: whoever
// names no target asks for that check, and the update isn't complete.
func (e *evaluation) tooEarly(r *rule) string {
	if r.asks != ofRest || !e.underway() {
		return ""
	}
	return "the update to " + e.inv.Cluster.Updating + " isn't complete; check again when it is"
}

// worlds are the moments, in the order of time.
func (e *evaluation) worlds() []*world {
	if len(e.journey.stops) == 1 {
		return []*world{e.world(0, Now)}
	}
	var list []*world
	last := len(e.journey.stops) - 2
	for hop := range last + 1 {
		// Later hops begin as the one before them ended.
		if hop == 0 {
			list = append(list, e.world(hop, Now))
		}
		list = append(list, e.world(hop, Target))
		if hop == last && len(e.req.Planned) > 0 {
			list = append(list, e.world(hop, Planned))
		}
	}
	return list
}

// world sets the stage for one moment.
func (e *evaluation) world(hop int, phase Phase) *world {
	w := &world{index: e.index, Phase: phase, Hop: hop, Hops: len(e.journey.stops) - 1, From: e.journey.stops[hop]}
	w.problem, w.fix = e.journey.problem, e.journey.fix
	if w.Hops > 0 {
		w.To, w.target = e.journey.stops[hop+1], e.journey.to()
	}
	for _, d := range e.cast(phase) {
		now := e.linuxAt(d, w.From, hop == 0)
		target := now
		if w.Hops > 0 {
			target = e.forward(d, &now, e.linuxAt(d, w.To, false), w)
		}
		v := newView(w, d, now, target)
		v.Planned = e.isPlanned(d)
		w.Views = append(w.Views, v)
	}
	return w
}

// cast are the Windows drivers in a phase. Planned ones take the place of those
// that they are heirs of.
func (e *evaluation) cast(phase Phase) []*inventory.Driver {
	var list []*inventory.Driver
	for i := range e.inv.Drivers {
		d := &e.inv.Drivers[i]
		if d.OS == "windows" && (phase != Planned || len(e.heirs(d)) == 0) {
			list = append(list, d)
		}
	}
	if phase == Planned {
		list = append(list, e.plannedWindows()...)
	}
	return list
}

// judge lets every rule look at one moment.
func (e *evaluation) judge(w *world) {
	e.moments = append(e.moments, w)
	e.sink.world = w
	for _, r := range e.active {
		e.sink.rule = r
		if r.cluster != nil {
			e.sink.view = nil
			r.cluster(w, e.sink)
		}
		if r.driver == nil {
			continue
		}
		for _, v := range w.Views {
			e.sink.view = v
			r.driver(v, e.sink)
		}
	}
}

// finish makes the result of what was gathered.
func (e *evaluation) finish() *Result {
	r := e.result
	if from := e.journey.from(); !from.IsZero() {
		r.From = from.String()
	}
	if len(r.Hops) > 0 {
		r.To = e.journey.to().String()
	}
	for _, entry := range e.sink.entries {
		r.Findings = append(r.Findings, entry.finish())
	}
	finding.Sort(r.Findings)
	r.Drivers = e.rows()
	r.sumUp()
	r.Steps = e.plan()
	slices.SortStableFunc(r.NotEvaluated, func(a, b NotEvaluated) int { return cmp.Compare(a.Rule, b.Rule) })
	return r
}
