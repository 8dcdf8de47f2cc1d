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
	"strings"
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
	// ID names the rule: payload.sum.mismatch of a check, SKEW001 of verify skew.
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

// The exit codes of every command. They are frozen: scripts branch on them.
const (
	ExitOK      = 0 // fine
	ExitError   = 1 // usage, I/O or an internal fault
	ExitWarn    = 2 // WARN, under --fail-on=warn
	ExitBlock   = 3 // BLOCK, or a check that failed
	ExitUnknown = 4 // something could not be told
)

var exitCodes = map[Severity]int{Warn: ExitWarn, Unknown: ExitUnknown, Block: ExitBlock}

// FailOn is the lowest severity that makes a command fail. Its zero value
// isn't valid: use DefaultFailOn.
type FailOn Severity

// DefaultFailOn fails on BLOCK and on UNKNOWN, and lets WARN through.
const DefaultFailOn = FailOn(Unknown)

// FailOnNames lists the values that --fail-on takes.
var FailOnNames = []string{"block", "unknown", "warn"}

// String, Set and Type make FailOn a pflag value.
func (f FailOn) String() string { return strings.ToLower(Severity(f).String()) }

// Set reads block, unknown or warn.
func (f *FailOn) Set(s string) error {
	if !slices.Contains(FailOnNames, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(FailOnNames, ", "))
	}
	return (*Severity)(f).UnmarshalText([]byte(strings.ToUpper(s)))
}

// Type names the value in help texts.
func (FailOn) Type() string { return "severity" }

// ExitCode returns the exit code of a command that found fs. BLOCK wins over
// UNKNOWN, UNKNOWN over WARN.
func (f FailOn) ExitCode(fs []Finding) int {
	worst := Worst(fs)
	if worst < Severity(f) {
		return ExitOK
	}
	return exitCodes[worst]
}

// Action is one thing to do about a finding, as reports print it and scripts run
// it. It is data: what it does to a cluster is known to the package that made it.
type Action struct {
	// Kind names the sort of action: set-image, replace-driver, by-hand.
	Kind string `json:"kind"`
	// Object is what it changes, "" for none that has a name.
	Object string `json:"object,omitempty"`
	// Summary is what it does, in one line.
	Summary string `json:"summary"`
	// Asks are the shell variables that its commands use and only a person knows.
	Asks []Ask `json:"asks,omitempty"`
	// Needs are what must be true before, a sentence each.
	Needs []string `json:"needs,omitempty"`
	// Commands are shell lines in their order. None: a person does what Summary
	// says.
	Commands []string `json:"commands,omitempty"`
	// Wait are shell lines that change nothing and end when the effect is there.
	Wait []string `json:"wait,omitempty"`
	// Done is a shell line that exits 0 where nothing is left to do; "" where
	// nothing tells.
	Done string `json:"done,omitempty"`
	// Undo are the shell lines of the way back, NoUndo says why there is none. Both
	// are empty for an action that changes nothing.
	Undo   []string `json:"undo,omitempty"`
	NoUndo string   `json:"noUndo,omitempty"`
	// Final is a shell line that exits 0 once there is no way back to before the action,
	// nor to before what was done ahead of it; "" where there is one.
	Final string `json:"final,omitempty"`
	// Interrupts says which pods are without their volumes, and for how long; ""
	// for none.
	Interrupts string `json:"interrupts,omitempty"`
	// Judge is what only a person can tell before it is done; "" for nothing.
	Judge string `json:"judge,omitempty"`
}

// Lines are what a person runs: how to find what the commands ask for, the commands,
// and what waits for their effect.
func (a Action) Lines() []string {
	lines := slices.Concat(a.Commands, a.Wait)
	var before []string
	for _, ask := range a.Asks {
		if ask.UsedIn(lines...) {
			before = append(before, strings.TrimLeft(ask.Command+"  # set "+ask.Name+": "+ask.Text, " "))
		}
	}
	return append(before, lines...)
}

// Ask is a value that a person has to give.
type Ask struct {
	// Name is the shell variable.
	Name string `json:"name"`
	Text string `json:"text"`
	// Command shows what helps to answer; "" for none.
	Command string `json:"command,omitempty"`
}

// UsedIn reports whether shell lines have the value: as "${NAME:?}", so that none runs
// without it. An empty namespace would be the current one.
func (a Ask) UsedIn(lines ...string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, `"${`+a.Name+`:?}"`) })
}
