// Package finding holds the answer of one check about one object, how bad it
// is, and which exit code a list of such answers makes.
//
// It knows nothing of where findings come from and doesn't print them: rules
// and checks make findings, package report writes them.
package finding

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity orders findings from harmless to blocking.
type Severity int

// The severities, least first. Unknown is above Warn because a missing
// answer must never pass for a harmless one.
const (
	Pass Severity = iota
	Info
	Warn
	Unknown
	Block
)

var severityNames = []string{"PASS", "INFO", "WARN", "UNKNOWN", "BLOCK"}

// String returns the upper-case name that reports show.
func (s Severity) String() string {
	if s < Pass || s > Block {
		return fmt.Sprintf("Severity(%d)", int(s))
	}
	return severityNames[s]
}

// MarshalText makes JSON carry the name and not the number.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name that MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames, string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q", text)
	}
	*s = Severity(i)
	return nil
}

// Finding is one rule's answer about one object.
type Finding struct {
	// ID names the rule, lower case with dots: payload.sum.mismatch.
	// IDs are frozen once released: --accept and dashboards hold them.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Object is what the finding is about: a path, a component, a driver.
	Object   string `json:"object"`
	Observed string `json:"observed,omitempty"`
	Expected string `json:"expected,omitempty"`
	// Why says what goes wrong if nothing is done.
	Why string `json:"why,omitempty"`
	// Remedy is what fixes it, in words.
	Remedy string `json:"remedy,omitempty"`
	// Actions do what Remedy says, in their order.
	Actions []Action `json:"actions,omitempty"`
	// When says before, during or after which step the remedy is due.
	When string `json:"when,omitempty"`
	// Source is where the rule's ground is written: a URL, or
	// repository@ref:path.
	Source string `json:"source,omitempty"`
	// Phase is the moment that is judged, where a check looks at several: now,
	// control-plane, windows.
	Phase string `json:"phase,omitempty"`
	// Hop is the update that is judged, "4.18 -> 4.19", where there are several.
	Hop string `json:"hop,omitempty"`
	// Evidence is where the observed facts were read: file:line, or an object
	// and its field.
	Evidence []string `json:"evidence,omitempty"`
	// Accepted is the severity that --accept took away, "" for none.
	Accepted string `json:"accepted,omitempty"`
}

// Sort orders findings worst first, then by ID, object and observation, so
// that two runs over the same input print the same report.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Observed, b.Observed),
		)
	})
}

// Worst returns the highest severity in fs; Pass for an empty list.
func Worst(fs []Finding) Severity {
	worst := Pass
	for _, f := range fs {
		worst = max(worst, f.Severity)
	}
	return worst
}

// Count returns how many findings have severity s.
func Count(fs []Finding, s Severity) int {
	n := 0
	for _, f := range fs {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Accept lowers the findings that rules name to INFO. A rule is an ID, or
// ID=object for one object alone. A lowered finding says what it was.
func Accept(fs []Finding, rules []string) []Finding {
	accepted := map[string]bool{}
	for _, r := range rules {
		accepted[r] = true
	}
	out := make([]Finding, len(fs))
	for i, f := range fs {
		if f.Severity > Info && (accepted[f.ID] || accepted[f.ID+"="+f.Object]) {
			f.Why = "accepted; it was " + f.Severity.String() + ". " + f.Why
			f.Accepted = f.Severity.String()
			f.Severity = Info
		}
		out[i] = f
	}
	return out
}
