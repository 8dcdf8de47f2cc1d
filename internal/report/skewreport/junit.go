package skewreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/skew"
)

// failing is the least severity that makes the command fail.
func (d *Document) failing() finding.Severity {
	f := finding.DefaultFailOn
	_ = f.Set(d.FailOn) // newDocument took it from a FailOn
	return finding.Severity(f)
}

func (d *Document) junitCase(r RuleInfo) report.JUnitCase {
	c := report.JUnitCase{Class: "skew." + strings.TrimRight(r.ID, "0123456789"), Name: strings.TrimSpace(r.ID + " " + r.Title)}
	var failed, rest []finding.Finding
	for _, f := range d.Findings {
		switch {
		case f.ID != r.ID:
		case f.Severity >= d.failing():
			failed = append(failed, f)
		default:
			rest = append(rest, f)
		}
	}
	if len(failed) > 0 {
		worst := finding.Worst(failed)
		message := &report.JUnitMessage{Message: junitHeadline(failed), Type: worst.String(), JUnitText: report.JUnitText{Text: junitDetails(failed)}}
		if worst == finding.Unknown {
			c.Error = message
		} else {
			c.Failure = message
		}
	} else if i := slices.IndexFunc(d.NotEvaluated, func(n skew.NotEvaluated) bool { return n.Rule == r.ID }); i >= 0 {
		c.Skipped = &report.JUnitMessage{Message: d.NotEvaluated[i].Reason}
	}
	if len(rest) > 0 {
		c.Output = &report.JUnitText{Text: junitDetails(rest)}
	}
	return c
}

func junitHeadline(fs []finding.Finding) string {
	said := printable.OneLine(strings.TrimSpace(fs[0].Object + ": " + cmp.Or(fs[0].Observed, fs[0].Why)))
	if len(fs) > 1 {
		said += fmt.Sprintf(" (and %d more)", len(fs)-1)
	}
	return said
}

func junitDetails(fs []finding.Finding) string {
	var blocks []string
	for _, f := range fs {
		lines := []string{strings.TrimSpace(f.Severity.String() + " " + f.Object)}
		for _, p := range parts(f) {
			lines = append(lines, p.Name+": "+p.Text)
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return strings.Join(blocks, "\n\n")
}
