package precheck

import (
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew"
)

// A fault of now isn't the update's, and what is due after it isn't asked for
// before.
func TestConcernOf(t *testing.T) {
	one := func(s finding.Severity, phase skew.Phase, when, hop string) finding.Finding {
		return finding.Finding{Severity: s, Phase: string(phase), When: when, Hop: hop}
	}
	const first, second = "4.19 -> 4.20", "4.20 -> 4.21"
	for _, tt := range []struct {
		findings []finding.Finding
		want     Concern
	}{
		{nil, NoConcern},
		{[]finding.Finding{one(finding.Warn, skew.Target, "after", first)}, NoConcern},
		{[]finding.Finding{one(finding.Warn, skew.Target, "during", first)}, NoConcern},
		{[]finding.Finding{one(finding.Warn, skew.Now, "before", first), one(finding.Warn, skew.Target, "after", first)}, ActFirst},
		{[]finding.Finding{one(finding.Unknown, skew.Now, "before", first)}, NotKnown},
		{[]finding.Finding{one(finding.Block, skew.Now, "before", first), one(finding.Unknown, skew.Now, "before", first)}, BrokenNow},
		{[]finding.Finding{one(finding.Block, skew.Now, "before", first), one(finding.Block, skew.Target, "before", first)}, BreaksThen},
		{[]finding.Finding{one(finding.Block, skew.Now, "before", second)}, BreaksThen},
	} {
		r := &skew.Result{Hops: []skew.Hop{{From: "4.19", To: "4.20"}, {From: "4.20", To: "4.21"}}, Findings: tt.findings}
		r.Accept(nil)
		if got := ConcernOf(r); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.findings, got, tt.want)
		}
	}
}
