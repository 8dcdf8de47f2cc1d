package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// steps are what to do, in order: before, during and after every hop. Findings
// judge the Windows drivers as they are; the plan lets them follow after each
// hop, so a later hop asks for nothing that an earlier step has done.
func (e *evaluation) steps() []Step {
	p := &planner{evaluation: e, stages: map[string]*stage{}}
	for _, w := range e.moments {
		if w.Hops > 0 && w.Phase != Target {
			continue
		}
		p.stage(w)
		p.before(w)
		p.during(w)
		p.after(w)
	}
	slices.SortStableFunc(p.list, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(slices.Index(times, a.When), slices.Index(times, b.When)))
	})
	return p.list
}

// times are in order.
var times = []string{before, during, after}

// planner gathers steps; those that say the same at the same time are one.
type planner struct {
	*evaluation
	list []Step
	// stages are the Windows drivers by DaemonSet, as the steps so far leave them.
	stages map[string]*stage
}

func (p *planner) add(s Step) {
	for i := range p.list {
		if have := &p.list[i]; have.Hop == s.Hop && have.When == s.When && have.What == s.What {
			have.Rules = append(have.Rules, s.Rules...)
			slices.Sort(have.Rules)
			have.Rules = slices.Compact(have.Rules)
			return
		}
	}
	p.list = append(p.list, s)
}

// family orders steps of one time: nodes and csi-proxy come before drivers
// (KEP-1122), drivers before what they are to serve.
func family(id string) int {
	return slices.IndexFunc([]string{"NODE", "PROXY", "HP", "SKEW", "REG", "INTREE"}, func(f string) bool { return strings.HasPrefix(id, f) })
}

// findings adds what findings of a hop ask for at a time.
func (p *planner) findings(w *world, when string) {
	var due []*entry
	for _, e := range p.sink.entries {
		if e.hop == w.Hop && e.When == when && !e.noStep && e.Severity > finding.Info && e.Remedy != "" {
			due = append(due, e)
		}
	}
	slices.SortStableFunc(due, func(a, b *entry) int { return cmp.Compare(family(a.ID), family(b.ID)) })
	for _, e := range due {
		s := Step{What: e.Object + ": " + e.Remedy}
		if e.step != nil {
			s = *e.step
		}
		s.Hop, s.When, s.Rules = w.Hop, when, append(s.Rules, e.ID)
		s.Why = cmp.Or(s.Why, e.Why)
		p.add(s)
	}
}

func (p *planner) before(w *world) {
	p.findings(w, before)
	for _, v := range w.Views {
		if s := p.stages[v.D.Object.String()]; s != nil {
			p.mendPairs(v, s)
			p.prepare(v, s)
		}
	}
}

func (p *planner) during(w *world) {
	p.findings(w, during)
	if w.Hops == 0 {
		return
	}
	s := Step{Hop: w.Hop, When: during, What: "update the cluster to " + w.To.String(), Command: "oc adm upgrade --to=" + w.To.String()}
	if w.To.Patch < 0 {
		s.Command = fmt.Sprintf("oc adm upgrade channel stable-%s && oc adm upgrade --to=%s.<patch>", w.To.MinorString(), w.To.MinorString())
	}
	p.add(s)
}

func (p *planner) after(w *world) {
	if w.Hops > 0 && w.To.CompareMinor(w.From) != 0 && w.usesWMCO() {
		p.add(Step{
			Hop: w.Hop, When: after, Rules: []string{"NODE001", "NODE002"},
			What:    fmt.Sprintf("update WMCO to its release for %s, and wait until every Windows node is ready and has the new kubelet", w.To.MinorString()),
			Command: "oc get nodes -l kubernetes.io/os=windows -o wide",
			Why:     "WMCO brings kubelet and csi-proxy; csi-proxy comes before the drivers",
		})
	}
	for _, v := range w.Views {
		if s := p.stages[v.D.Object.String()]; s != nil {
			p.follow(v, s)
		}
	}
	p.findings(w, after)
	if w.Hop == w.Hops-1 {
		p.add(Step{Hop: w.Hop, When: after, What: "check the result: versions, rollouts, registered drivers, migrated volumes", Command: "verify skew"})
	}
}
