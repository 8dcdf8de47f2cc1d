package skewreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/skew"
)

// encodePlan writes the steps as a checklist, hop by hop, with what they rest
// on: whoever approves the change must see what was taken for granted.
func encodePlan(d *Document) (string, error) {
	m := &markdown{Document: d.display()}
	m.block("# Plan for Windows CSI drivers" + escape(m.route(": ")))
	m.block("**" + m.Verdict.String() + "**: " + escape(m.Summary))
	m.drivers()
	m.block("## Steps")
	m.steps()
	m.rollback()
	m.assumptions()
	m.signature()
	return strings.TrimRight(m.String(), "\n") + "\n", nil
}

func (m *markdown) assumptions() {
	m.block("## What was assumed")
	m.WriteString("- The cluster is as it was read. Read the cluster again right before the change.\n")
	for _, l := range m.readLines() {
		m.WriteString("- " + capital(escape(l)) + "\n")
	}
	for _, p := range m.Problems {
		m.WriteString("- Not read: " + escape(oneLine(problem(p))) + "\n")
	}
	for _, f := range m.Findings {
		switch {
		case f.Accepted != "":
			m.WriteString("- Accepted, it was " + escape(f.Accepted) + ": " + findingLine(f) + "\n")
		case f.Severity == finding.Unknown:
			m.WriteString("- **Not known**: " + findingLine(f) + "\n")
		}
	}
	for _, n := range m.NotEvaluated {
		m.WriteString("- Not evaluated: " + escape(n.Rule) + ", " + escape(n.Reason) + "\n")
	}
	m.WriteString("\n")
}

func findingLine(f finding.Finding) string {
	said := escape(f.ID)
	if f.Object != "" {
		said += " " + code(f.Object)
	}
	if f.Hop != "" {
		said += " (" + escape(moment(f.Hop, f.Phase)) + ")"
	}
	return said + ": " + escape(oneLine(firstOf(f.Observed, why(f.Why, f.Accepted))))
}

// steps writes a part for each hop, also for those with nothing to do: a gap
// would read like an oversight.
func (m *markdown) steps() {
	all := m.todos()
	if len(all) == 0 {
		m.block("Nothing has to be changed.")
		return
	}
	n := 0
	for hop := range max(len(m.Hops), 1) {
		if len(m.Hops) > 0 {
			m.block(fmt.Sprintf("### Hop %d of %d: %s", hop+1, len(m.Hops), escape(m.hopOf(hop))))
		}
		n += m.hopSteps(all, hop, n)
	}
}

// hopSteps writes the steps of one hop, numbered on from n, and returns how
// many there are.
func (m *markdown) hopSteps(all []skew.Step, hop, n int) int {
	done, when := 0, ""
	for _, s := range all {
		if m.nearest(s.Hop) != hop {
			continue
		}
		if done == 0 || s.When != when {
			when = s.When
			m.block("#### " + escape(whenHeading(when)))
		}
		done++
		m.step(n+done, s)
	}
	if done == 0 {
		m.block("Nothing but the update itself.")
	}
	return done
}

// nearest keeps a step whose hop isn't on the way: it is shown at the nearest.
func (m *markdown) nearest(hop int) int { return min(max(hop, 0), max(len(m.Hops)-1, 0)) }

func whenHeading(when string) string {
	switch when {
	case "before":
		return "Before the update"
	case "during":
		return "During the update"
	case "after":
		return "After the update"
	case "":
		return "At any time"
	}
	return when
}

func (m *markdown) step(n int, s skew.Step) {
	rules := ""
	if len(s.Rules) > 0 {
		rules = " (" + escape(strings.Join(s.Rules, ", ")) + ")"
	}
	m.block(fmt.Sprintf("- [ ] **%d.** %s%s", n, escape(s.What), rules))
	const inList = "  "
	for _, a := range s.Actions {
		m.action(inList, a)
	}
	if s.Why != "" {
		m.block(inList + "Why: " + escape(oneLine(s.Why)))
	}
}

// action writes what one action runs, and what to know before.
func (m *markdown) action(indent string, a finding.Action) {
	for _, need := range a.Needs {
		m.block(indent + "Before: " + escape(need) + ".")
	}
	if a.Judge != "" {
		m.block(indent + "Only you can tell: " + escape(a.Judge) + ".")
	}
	if a.Interrupts != "" {
		m.block(indent + "Meanwhile: " + escape(a.Interrupts) + ".")
	}
	for _, ask := range a.Asks {
		m.block(indent + "Set " + code(ask.Name) + ": " + escape(ask.Text) + ".")
		if ask.Command != "" {
			m.block(fence(indent, ask.Command))
		}
	}
	if lines := slices.Concat(a.Commands, a.Wait); len(lines) > 0 {
		m.block(fence(indent, strings.Join(lines, "\n")))
	}
}

// rollback writes the way back, last step first, and says which steps have none.
// The numbers are those that the steps have.
func (m *markdown) rollback() {
	wrote := false
	for i, s := range slices.Backward(m.todos()) {
		for _, a := range slices.Backward(s.Actions) {
			if len(a.Undo) == 0 && a.NoUndo == "" {
				continue
			}
			if !wrote {
				wrote = true
				m.block("## Rollback")
				m.block("From the last step that was done back to the first. Files that a step has saved are in the folder that it ran in.")
			}
			if a.NoUndo != "" {
				m.block(fmt.Sprintf("- **%d.** no way back from %s: %s", i+1, code(a.Kind), escape(a.NoUndo)))
				continue
			}
			m.block(fmt.Sprintf("- **%d.** undo: %s", i+1, escape(a.Summary)))
			m.block(fence("  ", strings.Join(a.Undo, "\n")))
		}
	}
}
