package skewreport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew"
)

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

// todo writes what to do, numbered: in full what is due before the first update, and at
// rest, and the rest in a line each.
func (w *textWriter) todo() {
	steps := w.todos()
	if len(steps) == 0 || w.To == "" && !w.Details && w.Verdict <= finding.Info {
		return // this was the check after an update, and all is well
	}
	if w.To == "" || slices.ContainsFunc(steps, first) {
		w.heading("What to do")
	} else {
		w.line("What to do: nothing before the update")
	}
	when, hop := "", 0
	for i, s := range steps {
		lead := ""
		switch at := w.due(s); {
		case w.Details || w.To == "" || first(s):
			if at != when {
				lead = capital(at) + ": "
			}
			w.step(i, lead, s)
		default: // what is done during an update says itself which one
			if s.When != "during" && (at != when || s.Hop != hop) {
				lead = capital(s.When) + ": "
			}
			number := fmt.Sprintf("%2d. ", i+1)
			w.prose(number, len(number), lead+brief(withoutNamespaces(s))+begins(s))
		}
		when, hop = w.due(s), s.Hop
	}
	if len(w.Steps) > 0 && w.To != "" {
		w.commands("    ", w.planCommand()+"  # all steps, with commands")
	}
}

// brief is what a step does without how to tell that it is done.
func brief(what string) string {
	for _, more := range []string{" (", ", and wait", ": versions"} {
		what, _, _ = strings.Cut(what, more)
	}
	return what
}

// first tells whether a step is due before all updates.
func first(s skew.Step) bool { return s.Hop < 0 || s.Hop == 0 && s.When == "before" }

// begins are the first words of a step's command that changes something, for one whose
// commands aren't shown: the program, and its verbs.
func begins(s skew.Step) string {
	for _, a := range s.Actions {
		if len(a.Commands) == 0 || a.Kind == "by-hand" || len(a.Undo) == 0 && a.NoUndo == "" {
			continue
		}
		var words []string
		for _, word := range strings.Fields(inNamespace.ReplaceAllString(a.Commands[len(a.Commands)-1], "")) {
			if !verb.MatchString(word) {
				break
			}
			words = append(words, word)
		}
		if len(words) > 1 && !slices.Contains(words, "get") {
			return " (" + strings.Join(words, " ") + " ...)"
		}
	}
	return ""
}

var (
	inNamespace = regexp.MustCompile(` -n \S+`)
	verb        = regexp.MustCompile(`^[a-z-]+$`)
)

func (w *textWriter) step(i int, lead string, s skew.Step) {
	number, lines := fmt.Sprintf("%2d. ", i+1), s.Commands()
	what := lead + s.What
	if !w.Details && len(lines) > 0 {
		what = lead + withoutNamespaces(s) // the commands have them
	}
	w.prose(number, len(number), what)
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
