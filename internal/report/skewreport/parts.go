package skewreport

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// part is one named part of a finding. Copied is what is there to be copied.
type part struct {
	Name, Text string
	Copied     bool
}

// parts are the parts of f that aren't empty, in the order of reading; the ID
// and the severity are in its heading.
func parts(f finding.Finding) []part {
	when := ""
	if len(advice(f)) > 0 {
		when = due(f.When, f.Hop)
	}
	all := []part{
		{"object", f.Object, true},
		{"at", moment(f.Hop, f.Phase), false},
		{"observed", f.Observed, false},
		{"expected", f.Expected, false},
		{"why", why(f.Why, f.Accepted), false},
		{"when", when, false},
		{"remedy", plain(advice(f)), true},
		{"source", f.Source, true},
		{"evidence", strings.Join(f.Evidence, "\n"), true},
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.Text == "" })
}

// plain is advice as lines of text.
func plain(all []paragraph) string {
	var lines []string
	for _, p := range all {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}

func groupOf(f finding.Finding) string {
	switch {
	case f.Accepted != "":
		return "Accepted by you"
	case f.Severity == finding.Block:
		return "What blocks"
	case f.Severity == finding.Unknown:
		return "What couldn't be told"
	case f.Severity == finding.Warn:
		return "What to act on"
	case f.Severity == finding.Info:
		return "Good to know"
	}
	return "What is well"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func firstOf(s ...string) string { return cmp.Or(s...) }

// advice is what a finding asks for: its remedy in words, then each action with
// its commands.
func advice(f finding.Finding) []paragraph {
	var all []paragraph
	if f.Remedy != "" {
		all = append(all, paragraph{false, oneLine(f.Remedy)})
	}
	for _, a := range f.Actions {
		if !strings.Contains(f.Remedy, a.Summary) {
			all = append(all, paragraph{false, a.Summary})
		}
		if lines := a.Lines(); len(lines) > 0 {
			all = append(all, paragraph{true, strings.Join(lines, "\n")})
		}
	}
	return all
}

type paragraph struct {
	Command bool
	// Text of commands has a line for each; prose is one line.
	Text string
}
