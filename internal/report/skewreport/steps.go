package skewreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew"
)

// roomForSteps is how many lines of steps the short text shows before it names
// those that follow only, but for those of what blocks.
const roomForSteps = 12

// todos are what to do: what answers findings that the plan has no step for,
// and then the plan. What is asked for in the same words is asked for once.
func (d *Document) todos() []skew.Step {
	var asks []skew.Step
	for _, f := range d.Findings {
		s, ok := ask(f)
		if !ok || slices.ContainsFunc(d.Steps, func(step skew.Step) bool {
			return answers(step, f) || step.Hop == 0 && step.When == "before" && step.What == s.What
		}) {
			continue
		}
		if i := slices.IndexFunc(asks, func(o skew.Step) bool { return o.What == s.What }); i < 0 {
			asks = append(asks, s)
		} else if !slices.Equal(asks[i].Commands(), s.Commands()) {
			asks[i].Actions = append(slices.Clone(asks[i].Actions), s.Actions...)
		}
	}
	return append(asks, d.Steps...)
}

// answers tells whether a step is a rule's, or changes the finding's object in time, so
// that its own actions were no longer due: the plan judges again after each step.
func answers(s skew.Step, f finding.Finding) bool {
	inTime := len(f.Actions) > 0 && (s.Hop == 0 && s.When != "after" || f.When == "after")
	return slices.Contains(s.Rules, f.ID) || inTime && slices.ContainsFunc(s.Actions, func(a finding.Action) bool {
		return a.Object == f.Object && (len(a.Undo) > 0 || a.NoUndo != "")
	})
}

// ask is what answers a finding, as a step before all others.
func ask(f finding.Finding) (skew.Step, bool) {
	s := skew.Step{Hop: -1, What: f.Remedy, Actions: f.Actions, Why: f.Why, Rules: []string{f.ID}}
	return s, s.What != "" && (f.Severity >= finding.Unknown || f.Severity == finding.Warn && len(s.Commands()) > 0)
}

// todo writes what to do, numbered. The short text shows in full what comes
// first and what a finding asks for, and names the rest.
func (w *textWriter) todo() {
	steps := w.todos()
	if w.To == "" && !w.Details && !slices.ContainsFunc(steps, w.urgent) {
		return // this was the check after an update, and all is well
	}
	if len(steps) > 0 {
		w.heading("What to do")
	}
	when, used, folded := "", 0, 0
	for i, s := range steps {
		if !w.Details && (!w.urgent(s) || (used >= roomForSteps || w.most < 0 && w.command == 0 && len(s.Commands()) == 0) && !w.blocks(s)) {
			folded++
			continue
		}
		w.fold(steps, i-folded, i)
		folded = 0
		lead := ""
		if at := w.due(s); at != when {
			when, lead = at, capital(at)+": "
		}
		before := strings.Count(w.String(), "\n")
		w.step(i, lead, s)
		used += strings.Count(w.String(), "\n") - before
	}
	w.fold(steps, len(steps)-folded, len(steps))
	if len(w.Steps) > 0 && w.To != "" {
		w.commands("    ", w.planCommand()+"  # all steps, with commands")
	}
}

// behind are the findings that a step is for.
func (w *textWriter) behind(s skew.Step) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(w.Findings), func(f finding.Finding) bool { return !slices.Contains(s.Rules, f.ID) })
}

// urgent tells whether a step is before all updates, and not for good-to-know findings
// alone, or is asked for by a finding that makes the verdict.
func (w *textWriter) urgent(s skew.Step) bool {
	all := w.behind(s)
	onlyInfo := len(s.Rules) > 0 && finding.Worst(all) <= finding.Info
	return s.Hop < 0 || s.Hop == 0 && s.When == "before" && !onlyInfo || slices.ContainsFunc(all, func(f finding.Finding) bool {
		return f.Severity > finding.Info && f.Severity == w.Verdict && s.Hop >= w.hopIndex(f.Hop)
	})
}

// blocks tells whether a finding that blocks has a step: it is never cut.
func (w *textWriter) blocks(s skew.Step) bool { return finding.Worst(w.behind(s)) == finding.Block }

func (w *textWriter) step(i int, lead string, s skew.Step) {
	number, lines := fmt.Sprintf("%2d. ", i+1), s.Commands()
	what := lead + s.What
	if !w.Details && len(lines) > 0 {
		what = lead + withoutNamespaces(s) // the commands have them
	}
	if !w.Details && w.command == 0 && w.most <= 0 && !w.blocks(s) {
		w.short(number, len(number), what)
	} else {
		w.prose(number, len(number), what)
	}
	if len(lines) > 0 {
		w.commands(strings.Repeat(" ", len(number)+2), strings.Join(lines, "\n"))
	}
	if w.Details && s.Why != "" {
		w.prose(strings.Repeat(" ", len(number)), len(number), "Why: "+s.Why)
	}
}

// withoutNamespaces is what a step does, its objects by kind and name.
func withoutNamespaces(s skew.Step) string {
	what := s.What
	for _, a := range s.Actions {
		if kind, name, ok := strings.Cut(a.Object, " "); ok && strings.Contains(name, "/") {
			what = strings.ReplaceAll(what, a.Object, kind+" "+shortObject(name))
		}
	}
	return what
}

// fold names the steps from first to before end in one line.
func (w *textWriter) fold(steps []skew.Step, first, end int) {
	if first == end {
		return
	}
	number := fmt.Sprintf("%2d. ", first+1)
	if end-first > 1 {
		number = fmt.Sprintf("%2d-%d. ", first+1, end)
	}
	var names []string
	for _, s := range steps[first:end] {
		names = append(names, s.What)
	}
	w.short(number, len(number), strings.Join(names, "; "))
}

// due is when a step is due, "before the update 4.19 -> 4.20"; "" at any time.
func (d *Document) due(s skew.Step) string {
	if s.Hop < 0 {
		return ""
	}
	if len(d.Hops) > 1 {
		return due(s.When, d.hopOf(s.Hop))
	}
	return due(s.When, "")
}

// planCommand is the command that has all steps. A target that the cluster
// itself named has to be told to it.
func (d *Document) planCommand() string {
	command := "verify skew plan"
	if as, rest, ok := strings.Cut(d.Tool.CommandLine, " skew "); ok { // kubectl winbake skew
		command = as + " skew plan " + rest
	}
	if !strings.Contains(command, " --to ") {
		command += " --to " + d.To
	}
	return command
}
