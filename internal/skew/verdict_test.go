package skew_test

import (
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew"
)

// TestAccept: an accepted finding counts nowhere, and what else is wrong with
// its driver still does.
func TestAccept(t *testing.T) {
	tests := []struct {
		name    string
		rules   []string
		verdict finding.Severity
		row     finding.Severity
	}{
		{"nothing", nil, finding.Block, finding.Block},
		{"another rule", []string{"SKEW001"}, finding.Block, finding.Block},
		{"another object", []string{"HP001=DaemonSet kube-system/other"}, finding.Block, finding.Block},
		{"the worst", []string{"HP001"}, finding.Warn, finding.Warn},
		{"all", []string{"HP001", "SKEW001"}, finding.Pass, finding.Info},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := evaluate(t, wmcoSample("4.19", "10.19.1", "v3.5.0"), skew.Request{To: "4.20"})
			r.Accept(tt.rules)
			if r.Verdict != tt.verdict || len(r.Drivers) != 1 || r.Drivers[0].Severity != tt.row {
				t.Errorf("verdict %v, rows %+v; want %v and %v", r.Verdict, r.Drivers, tt.verdict, tt.row)
			}
		})
	}
}
