package skewreport

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// part is one named part of a finding.
type part struct{ Name, Text string }

// parts are the parts of f that aren't empty, in the order of reading; the ID,
// the severity and the object are in its heading.
func parts(f finding.Finding) []part {
	when := ""
	if len(advice(f)) > 0 {
		when = due(f.When, f.Hop)
	}
	accepted := ""
	if f.Accepted != "" {
		accepted = "it was " + f.Accepted
	}
	all := []part{
		{"accepted", accepted},
		{"at", moment(f.Hop, f.Phase)},
		{"observed", f.Observed},
		{"expected", f.Expected},
		{"why", why(f.Why, f.Accepted)},
		{"when", when},
		{"remedy", plain(advice(f))},
		{"source", f.Source},
		{"evidence", strings.Join(f.Evidence, "\n")},
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

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func firstOf(s ...string) string { return cmp.Or(s...) }
