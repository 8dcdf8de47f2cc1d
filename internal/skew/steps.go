package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// steps are what to do, in order: before, during and after every hop. Findings
// judge the Windows drivers as they are; the plan lets them follow after each
// hop, so a later hop asks for nothing that an earlier step has done.
func (e *evaluation) steps() []Step {
	p := &planner{evaluation: e, stages: map[string]*stage{}, newcomers: map[string]version.Driver{}}
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
	// stages are the Windows drivers by DaemonSet, as the steps so far leave them;
	// nil for one that the plan takes away.
	stages map[string]*stage
	// newcomers are drivers that the plan deploys first, by the catalog's name,
	// and the version that they have then.
	newcomers map[string]version.Driver
}

// add takes a step. Without an update there is no before and after it.
func (p *planner) add(s Step) {
	if len(p.result.Hops) == 0 {
		s.When = ""
	}
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

// families in the order in which they are mended: nodes and csi-proxy come
// before drivers (KEP-1122), drivers before what they are to serve, and
// acknowledgements last.
var (
	beforeDrivers = []string{"NODE", "PROXY", "HP", "SKEW"}
	afterDrivers  = []string{"REG", "INTREE", "AFTER", "DATA", "OLM"}
)

func family(id string) string { return strings.TrimRight(id, "0123456789") }

// findings adds what findings of a hop ask for at a time, of these families.
func (p *planner) findings(w *world, when string, families []string) {
	var due []*entry
	for _, e := range p.sink.entries {
		if e.hop == w.Hop && e.due == when && !e.noStep && (e.Severity > finding.Info || e.planned) && (e.Remedy != "" || len(e.do) > 0) && slices.Contains(families, family(e.ID)) && !p.moot(e) {
			due = append(due, e)
		}
	}
	slices.SortStableFunc(due, func(a, b *entry) int {
		late := map[bool]int{true: 1}
		return cmp.Or(cmp.Compare(late[a.late], late[b.late]), cmp.Compare(slices.Index(families, family(a.ID)), slices.Index(families, family(b.ID))))
	})
	for _, e := range due {
		s := e.ownStep()
		s.Hop, s.When, s.Rules = w.Hop, when, append(s.Rules, e.ID)
		s.Why = cmp.Or(s.Why, e.Why)
		p.add(s)
	}
}

// moot tells whether another step of the same moment makes that of a finding
// needless: it deletes the DaemonSet, or puts another in its place.
func (p *planner) moot(e *entry) bool {
	return slices.ContainsFunc(p.sink.entries, func(other *entry) bool {
		if other == e || other.Object != e.Object || other.hop != e.hop || other.due != e.due || other.noStep {
			return false
		}
		switch {
		case other.ID == "REG002" && other.Severity == finding.Block:
			return e.ID != "REG002"
		case other.step != nil && other.step.baked:
			return e.ID == "REG003" || e.ID == "HP003"
		}
		return false
	})
}

// ownStep is what a finding asks for: its step, or its remedy with the commands
// at its end apart.
func (e *entry) ownStep() Step {
	if e.step != nil {
		return e.step.Step
	}
	if len(e.do) > 0 {
		records := action.Records(e.do)
		var lines []string
		for _, r := range records {
			lines = append(lines, slices.Concat(r.Commands, r.Wait)...)
		}
		return Step{What: cmp.Or(e.Remedy, records[0].Summary), Command: strings.Join(lines, "\n"), Actions: records}
	}
	what, command := commands(e.Remedy)
	if what == "" {
		r, _ := Explain(e.ID)
		what = r.Remedy
	}
	if !strings.Contains(what, e.Object) {
		what = e.Object + ": " + what
	}
	return Step{What: what, Command: command}
}

// commands parts a remedy: its prose in one line, and its commands, a line each.
func commands(remedy string) (what, command string) {
	var prose, lines []string
	for line := range strings.SplitSeq(remedy, "\n") {
		if isCommand(line) {
			lines = append(lines, line)
		} else if line != "" {
			prose = append(prose, line)
		}
	}
	return strings.TrimSuffix(strings.Join(prose, " "), ":"), strings.Join(lines, "\n")
}

// isCommand tells whether a line of a remedy is one to type.
func isCommand(line string) bool {
	program, rest, _ := strings.Cut(line, " ")
	return rest != "" && slices.Contains([]string{"oc", "git", "skopeo", "bake"}, program)
}

func (p *planner) before(w *world) {
	p.findings(w, before, beforeDrivers)
	for _, v := range w.Views {
		if s := p.stages[v.D.Object.String()]; s != nil {
			p.mendPairs(v, s)
			p.prepare(v, s)
		}
	}
	p.findings(w, before, afterDrivers)
}

func (p *planner) during(w *world) {
	if w.Hops > 0 {
		p.update(w)
	}
	p.findings(w, during, beforeDrivers)
	p.findings(w, during, afterDrivers)
}

// update is the hop itself.
func (p *planner) update(w *world) {
	s := Step{Hop: w.Hop, When: during, What: "update the cluster to " + w.To.String(), Command: "oc adm upgrade --to=" + w.To.String()}
	if to := p.offered(w); to != "" {
		s.What, s.Command = "update the cluster to "+to, "oc adm upgrade --to="+to
	} else if w.To.Patch < 0 {
		s.Command += ".<patch>"
	}
	if w.To.CompareMinor(w.From) != 0 {
		s.Command = "oc adm upgrade channel stable-" + w.To.MinorString() + "\n" + s.Command
	}
	p.add(s)
}

// offered is the newest patch of the hop's target that the cluster is offered;
// "" for none, or where the patch was asked for.
func (p *planner) offered(w *world) string {
	var newest version.OpenShift
	for _, s := range p.inv.Cluster.Available {
		v, err := version.ParseOpenShift(s)
		if err == nil && w.Hop == 0 && w.To.Patch < 0 && v.CompareMinor(w.To) == 0 && v.Pre == "" && (newest.IsZero() || v.Compare(newest) > 0) {
			newest = v
		}
	}
	if newest.IsZero() {
		return ""
	}
	return newest.String()
}

// operator is what brings the Windows nodes to the hop's release.
func (p *planner) operator(w *world) {
	s := Step{Hop: w.Hop, When: after, Rules: []string{"NODE001", "NODE002"}}
	s.What = fmt.Sprintf("let WMCO be updated to its release for %s (approve its install plan where that is manual)", w.To.MinorString())
	s.Command = wmcoPlans
	if w.Hop == 0 {
		s.Why = "WMCO brings kubelet and csi-proxy; csi-proxy comes before the drivers"
	}
	until := "wait until every Windows node is ready and shows that version"
	if !p.holds(w) {
		s.What += ", and " + until
		s.Command += "\n" + wmcoOfNodes
		p.add(s)
		return
	}
	p.add(s)
	p.add(Step{
		Hop: w.Hop, When: after, Rules: []string{"INTREE001", "INTREE003"},
		What:    "release the Windows nodes to WMCO one at a time, each when its CSINode lists the driver and the node before it is ready again, take the label away after it, and " + until,
		Command: "oc label node <node> " + allowUpgrade + "=true\noc label node <node> " + allowUpgrade + "-\n" + wmcoOfNodes,
		Why:     "WMCO 8 and 9 hold a node with volumes until it is released; one at a time shows whether the driver works before all pods depend on it",
	})
}

// holds tells whether the WMCO of the hop's release holds nodes: it does so in
// the hop that moves in-tree volumes to CSI.
func (p *planner) holds(w *world) bool {
	return slices.Contains([]string{"4.13", "4.14"}, w.to()) && slices.ContainsFunc(p.sink.entries, func(e *entry) bool {
		return e.ID == "INTREE001" && e.hop == w.Hop && e.Severity > finding.Info
	})
}

func (p *planner) after(w *world) {
	if w.Hops > 0 && w.To.CompareMinor(w.From) != 0 && w.usesWMCO() {
		p.operator(w)
	}
	p.findings(w, after, beforeDrivers)
	for _, v := range w.Views {
		if s := p.stages[v.D.Object.String()]; s != nil {
			p.follow(v, s)
		}
	}
	p.newcomersFollow(w)
	if w.Hops > 0 && w.Hop == w.Hops-1 {
		p.newlyPlanned(w)
	}
	p.findings(w, after, afterDrivers)
	if w.Hop >= w.Hops-1 {
		p.add(Step{Hop: w.Hop, When: after, What: "check the result: versions, rollouts, registered drivers, migrated volumes", Command: "verify skew"})
	}
}
