package skew

import (
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew/plan"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Callers name these: one import is enough for them.
type (
	// Request is what is checked.
	Request = snapshot.Request
	// Phase is a moment of a hop.
	Phase = snapshot.Phase
	// Hop is one update of OpenShift.
	Hop = snapshot.Hop
	// Step is one of a plan.
	Step = plan.Step
	// Rule is what --explain says of one.
	Rule = rules.Explanation
	// Retired is a rule that was.
	Retired = rules.Retired
)

// The phases of one hop.
const (
	Now    = snapshot.Now
	Target = snapshot.Target
)

// Result is the answer.
type Result struct {
	Verdict finding.Severity `json:"-"` // the report's own is BLOCK, UNKNOWN, WARN or PASS too
	// From is the OpenShift release that was started from; empty where it
	// couldn't be told.
	From string `json:"from"`
	// To is the release that was asked about; absent for the check after an
	// update.
	To string `json:"to,omitempty"`
	// Hops are the updates on the way, in order; absent without To.
	Hops []Hop `json:"hops,omitempty"`
	// ControlPlaneOnly is why two hops are one Control Plane Only (EUS to EUS)
	// update; absent where none are.
	ControlPlaneOnly string `json:"controlPlaneOnly,omitempty"`
	// Drivers has a row for each Windows driver at each hop.
	Drivers []Row `json:"drivers"`
	// Findings are the rules' answers, worst first, then in the order of hops.
	Findings []finding.Finding `json:"findings"`
	// Evaluated are the IDs of the rules that could be evaluated.
	Evaluated []string `json:"evaluated"`
	// NotEvaluated are the rules that couldn't be, and why.
	NotEvaluated []NotEvaluated `json:"notEvaluated,omitempty"`
	// Steps are what to do, in order.
	Steps []Step `json:"steps"`
}

// Row is one Windows driver at one hop.
type Row struct {
	Hop         int    `json:"hop"` // index into Hops; 0 where there are none
	Driver      string `json:"driver"`
	Provisioner string `json:"provisioner"`
	Object      string `json:"object"`
	// LinuxNow, LinuxTarget and Windows are versions as shown, "3.3.1", or
	// "unknown".
	LinuxNow    string `json:"linuxNow"`
	LinuxTarget string `json:"linuxTarget,omitempty"`
	Windows     string `json:"windows"`
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
	// SameCommitNow and SameCommit: both sides are built from one commit, by the
	// payload of the release and the label of the Windows image.
	SameCommitNow bool `json:"sameCommitNow,omitempty"`
	SameCommit    bool `json:"sameCommit,omitempty"`
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

// Accept lowers findings as finding.Accept does, and the verdict and the
// drivers' rows with them.
func (r *Result) Accept(ids []string) {
	r.Findings = finding.Accept(r.Findings, ids)
	r.sumUp()
}

func (r *Result) sumUp() {
	r.Verdict = finding.Worst(r.Findings)
	if r.Verdict == finding.Info {
		r.Verdict = finding.Pass // a verdict says what to do, and INFO is nothing to do
	}
	for i := range r.Drivers {
		r.Drivers[i].Severity = r.worst(&r.Drivers[i])
	}
}

func (r *Result) worst(row *Row) finding.Severity {
	worst := finding.Pass
	if row.LinuxNow == snapshot.UnknownVersion || row.LinuxTarget == snapshot.UnknownVersion {
		worst = finding.Unknown // nothing was compared
	}
	for _, f := range r.Findings {
		if f.Object == row.Object && r.hopOf(f) <= row.Hop {
			worst = max(worst, f.Severity)
		}
	}
	return worst
}

// Present tells whether a finding holds now, whatever is updated.
func (r *Result) Present(f finding.Finding) bool {
	return snapshot.Phase(f.Phase) == snapshot.Now && r.hopOf(f) == 0
}

// hopOf is the index of a finding's hop; 0 for what is said of no hop.
func (r *Result) hopOf(f finding.Finding) int {
	for i, h := range r.Hops {
		if f.Hop == h.From+" -> "+h.To {
			return i
		}
	}
	return 0
}
