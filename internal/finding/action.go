package finding

import (
	"slices"
	"strings"
)

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
