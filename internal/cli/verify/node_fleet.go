package verify

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/winbake/winbake/internal/cli/hosts"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/report"
)

// fleet is one report on several nodes: each finding's object begins with its node.
func fleet(all []hosts.Outcome[*node.Facts], e *node.Expectation) report.Report {
	r := report.Report{Subject: fmt.Sprintf("%d nodes", len(all)), Checked: fmt.Sprintf("%d files and %d services of each", len(e.Files), len(e.Services))}
	for _, o := range all {
		found, reason := []finding.Finding(nil), ""
		if o.Err == nil {
			found = node.Compare(e, o.Value)
		} else {
			reason = hosts.Reason(o.Err)
		}
		for _, f := range append(found, node.Reached(reason)) {
			f.Object = strings.TrimSpace(o.Target.String() + " " + f.Object)
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

func fleetTable(all []hosts.Outcome[*node.Facts], found []finding.Finding) []string {
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	for _, o := range all {
		says := ""
		if o.Err == nil {
			says = asked(o.Value)
		}
		fmt.Fprintf(rows, "%s\t%s\t%s\n", o.Target, worstOf(found, o.Target.String()), says)
	}
	_ = rows.Flush() // a Builder takes all
	return strings.Split(strings.TrimRight(table.String(), "\n"), "\n")
}

// asked says which machine answered, and to whom.
func asked(f *node.Facts) string {
	return fmt.Sprintf("%s, %s, asked by verify.exe %s", f.Host, f.OS, f.Verify)
}

// worstOf is the verdict on one node.
func worstOf(found []finding.Finding, name string) finding.Severity {
	worst := finding.Pass
	for _, f := range found {
		if f.Accepted == "" && (f.Object == name || strings.HasPrefix(f.Object, name+" ")) {
			worst = max(worst, f.Severity)
		}
	}
	return worst
}
