package skewreport

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

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
		if lines := slices.Concat(a.Commands, a.Wait); len(lines) > 0 {
			all = append(all, paragraph{true, strings.Join(lines, "\n")})
		}
	}
	return all
}

// paragraph is a run of lines: prose, or commands.
type paragraph struct {
	Command bool
	// Text of commands has a line for each; prose is one line.
	Text string
}

// span is a run of prose, or code that stood in backticks.
type span struct {
	Code bool
	Text string
}

// spans takes prose apart at pairs of backticks. A backtick without a partner
// is a character like any other.
func spans(s string) []span {
	var all []span
	for s != "" {
		prose, rest, ok := strings.Cut(s, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !ok || !closed {
			return append(all, span{false, s})
		}
		if prose != "" {
			all = append(all, span{false, prose})
		}
		if code == "" { // a run of backticks marks no code
			all = append(all, span{false, "``"})
		} else {
			all = append(all, span{true, code})
		}
		s = after
	}
	return all
}
