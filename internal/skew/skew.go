// Package skew judges whether a cluster's Windows CSI drivers fit the Linux
// CSI drivers of an OpenShift release, and whether in-tree volumes stand in
// the way of an update.
//
// It is pure: an inventory and a catalog go in, findings come out. It reads no
// file, talks to no cluster and prints nothing.
package skew

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// Request is what is asked.
type Request struct {
	// From is the release that the cluster runs, "4.19" or "4.19.12"; empty:
	// the inventory's.
	From string
	// To is the release that it is going to; empty: the check after an update,
	// of the present state alone.
	To string
	// Static: there is no cluster behind the manifests. Rules that need nodes
	// or volumes are listed as not evaluated.
	Static bool
	// EUS: the update goes two minors at once, Control Plane Only. It is taken for
	// one too where the cluster is in a channel eus-*, or has paused its pools.
	EUS bool
	// Planned are the Windows drivers that will be deployed after the update.
	Planned []inventory.Driver
	// Catalogs are the files with rows over the embedded catalog: bake is given
	// them too.
	Catalogs []string
	// Now is the day of the check, 2026-11-21, for the age of the catalog.
	Now string
}

// Phase is a moment of the update.
type Phase string

// The phases of one hop.
const (
	Now     Phase = "now"           // Linux and Windows as they are
	Target  Phase = "control-plane" // Linux at the target, Windows unchanged
	Planned Phase = "windows"       // Linux at the target, Windows as planned
)

// Result is the answer.
type Result struct {
	Verdict finding.Severity `json:"verdict"`
	From    string           `json:"from"`
	To      string           `json:"to,omitempty"`
	// Hops are the updates on the way, in order; one for a single minor.
	Hops     []Hop             `json:"hops,omitempty"`
	Drivers  []Row             `json:"drivers"`
	Findings []finding.Finding `json:"findings"`
	// Evaluated are the rules that were, NotEvaluated those that couldn't be.
	Evaluated    []string       `json:"evaluated"`
	NotEvaluated []NotEvaluated `json:"notEvaluated,omitempty"`
	// Steps are what to do, in order: `verify skew plan`.
	Steps []Step `json:"steps"`
}

// Hop is an update from one minor to the next (or inside one).
type Hop struct {
	// From is "" where it isn't known.
	From string `json:"from"`
	To   string `json:"to"`
}

// String is "4.19 -> 4.20", or "? -> 4.20" from a release that isn't known.
func (h Hop) String() string { return cmp.Or(h.From, "?") + " -> " + h.To }

// Row is one Windows driver at one hop.
type Row struct {
	Hop         int    `json:"hop"` // index into Hops; 0 where there are none
	Driver      string `json:"driver"`
	Provisioner string `json:"provisioner"`
	Object      string `json:"object"`
	// LinuxNow, LinuxTarget and Windows are versions as shown, "3.3.1", or
	// "unknown". WindowsPlanned is "" unless one was planned.
	LinuxNow       string `json:"linuxNow"`
	LinuxTarget    string `json:"linuxTarget,omitempty"`
	Windows        string `json:"windows"`
	WindowsPlanned string `json:"windowsPlanned,omitempty"`
	// WindowsBefore is where the plan has the Windows driver when the update of
	// the hop starts, WindowsAfter where it has it when the hop is done; "" where
	// the plan doesn't know it.
	WindowsBefore string `json:"windowsBefore,omitempty"`
	WindowsAfter  string `json:"windowsAfter,omitempty"`
	// DistanceNow and Distance are minors of Windows behind (-) or ahead (+)
	// of Linux, now and at the target; nil unknown, over a major, or of
	// calendar versions, which have none.
	DistanceNow *int `json:"distanceNow,omitempty"`
	Distance    *int `json:"distance,omitempty"`
	// Mode is csi-proxy or HostProcess now, ModeTarget what the target's line
	// wants.
	Mode       string           `json:"mode"`
	ModeTarget string           `json:"modeTarget,omitempty"`
	Severity   finding.Severity `json:"severity"`
	// Certainty is the catalog's for the Linux versions.
	Certainty string `json:"certainty,omitempty"`
}

// NotEvaluated is a rule that had nothing to go by.
type NotEvaluated struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// Commands are all that its actions run, in order.
func (s Step) Commands() []string {
	var lines []string
	for _, a := range s.Actions {
		lines = append(lines, slices.Concat(a.Commands, a.Wait)...)
	}
	return lines
}

// Step is one thing to do on the way.
type Step struct {
	Hop int `json:"hop"`
	// When is before, during or after that hop; "" where there is none.
	When string `json:"when"`
	// Actions are what is done, in their order.
	Actions []finding.Action `json:"actions,omitempty"`
	// What is one line; Why the ground.
	What  string   `json:"what"`
	Why   string   `json:"why,omitempty"`
	Rules []string `json:"rules,omitempty"`
}
