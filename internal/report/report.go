// Package report writes findings for people and machines: text, JSON, JUnit.
// It judges nothing: severities and exit codes are package finding's.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/printable"
)

// Formats are the values of -o.
var Formats = []string{"text", "json", "junit"}

// Report is what a check found. All but Findings may be empty.
type Report struct {
	// Tool and Version say who checked: "verify", "v1.2.0".
	Tool, Version string
	// Subject is what was checked, as it was named.
	Subject string
	// Checked counts what was looked at, such as "13 files".
	Checked  string
	Findings []finding.Finding
	// Notes are for the reader and bear on no verdict: what was read from
	// where, how old the catalog is. One line each.
	Notes []string
	// FailOn decides what JUnit calls failed; its zero value is
	// finding.DefaultFailOn.
	FailOn finding.FailOn
}

// Options are for people's eyes: only text heeds them.
type Options struct {
	Color   bool
	Verbose bool // list PASS findings too
	// Width is the terminal's, in columns. Prose is wrapped to it; commands,
	// which are there to be copied, aren't. 0 wraps nothing.
	Width int
}

// Write writes r in one of Formats; another format is a fault. The order of
// r.Findings doesn't matter: reports are always worst first.
func Write(w io.Writer, format string, r Report, o Options) error {
	r.Findings = slices.Clone(r.Findings)
	finding.Sort(r.Findings)
	if r.FailOn == 0 {
		r.FailOn = finding.DefaultFailOn
	}
	var out string
	var err error
	switch format {
	case "text":
		out = text(r, o)
	case "json":
		out, err = encodeJSON(r)
	case "junit":
		out, err = encodeJUnit(r)
	default:
		return &fault.Error{
			What: fmt.Sprintf("unknown output format %q", format),
			Fix:  "-o " + strings.Join(Formats, ", -o "),
		}
	}
	if err == nil {
		_, err = io.WriteString(w, out)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// details are the parts of f that aren't empty, in the order of reading.
func details(f finding.Finding) []detail {
	accepted := ""
	if f.Accepted != "" {
		accepted = "it was " + f.Accepted
	}
	all := []detail{
		{"accepted", accepted, true},
		{"phase", f.Phase, true},
		{"hop", f.Hop, true},
		{"observed", f.Observed, true},
		{"expected", f.Expected, true},
		{"why", f.Why, true},
		{"remedy", f.Remedy, false},
		{"when", f.When, true},
		{"source", f.Source, false},
		{"evidence", strings.Join(f.Evidence, "\n"), false},
	}
	return slices.DeleteFunc(all, func(d detail) bool { return d.text == "" })
}

type detail struct {
	name, text string
	prose      bool // may be wrapped
}

// CleanLines makes text printable whose lines are meant to be lines.
func CleanLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = printable.Line(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    "))
	}
	return lines
}
