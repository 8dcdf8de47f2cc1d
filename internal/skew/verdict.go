package skew

import (
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Accept lowers findings as finding.Accept does, and the verdict and the
// drivers' rows with them.
func (r *Result) Accept(ids []string) {
	r.Findings = finding.Accept(r.Findings, ids)
	r.sumUp()
}

// sumUp makes the verdict and the rows' severities of the findings.
func (r *Result) sumUp() {
	r.Verdict = finding.Worst(r.Findings)
	if r.Verdict == finding.Info {
		r.Verdict = finding.Pass // a verdict says what to do, and INFO is nothing to do
	}
	for i := range r.Drivers {
		r.Drivers[i].Severity = r.worst(&r.Drivers[i])
	}
}

// worst is the worst finding about a row's driver at its hop, or before it.
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
