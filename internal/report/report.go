// Package report writes findings for people and machines: text, JSON, JUnit.
// It judges nothing: severities and exit codes are package finding's.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
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
}

// details are the parts of f that aren't empty, in the order of reading.
func details(f finding.Finding) []detail {
	accepted := ""
	if f.Accepted != "" {
		accepted = "it was " + f.Accepted
	}
	all := []detail{
		{"accepted", accepted},
		{"phase", f.Phase},
		{"hop", f.Hop},
		{"observed", f.Observed},
		{"expected", f.Expected},
		{"why", f.Why},
		{"remedy", f.Remedy},
		{"when", f.When},
		{"source", f.Source},
		{"evidence", strings.Join(f.Evidence, "\n")},
	}
	return slices.DeleteFunc(all, func(d detail) bool { return d.text == "" })
}

type detail struct{ name, text string }

// CleanLines makes text printable whose lines are meant to be lines.
func CleanLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = printable.Line(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    "))
	}
	return lines
}

const (
	labelWidth = len("UNKNOWN")
	nameWidth  = len("observed")
	indent     = labelWidth + 1         // of details
	hanging    = indent + nameWidth + 2 // of what they say
)

var colors = map[finding.Severity]string{
	finding.Block: "31", finding.Unknown: "35", finding.Warn: "33", finding.Info: "36", finding.Pass: "32",
}

// Colored is text in the colour of a severity.
func Colored(text string, s finding.Severity) string {
	return "\x1b[" + colors[s] + "m" + text + "\x1b[0m"
}

// text writes one block for each finding, or for several that say the same of
// different objects, the severities apart.
func text(r Report, o Options) string {
	var b strings.Builder
	for s := finding.Block; s >= finding.Pass; s-- {
		if s > finding.Pass || o.Verbose {
			writeGroup(&b, r.Findings, s, o)
		}
	}
	for _, n := range r.Notes {
		writeLine(&b, "note: "+printable.Line(n))
	}
	b.WriteString(closing(r) + "\n")
	return b.String()
}

// writeGroup writes the findings of one severity, with their objects below
// each other. What one rule says of several objects in the same words is
// written once, below the last: a service that is absent lacks 23 pipes. Such
// objects come together, at the place of the first.
func writeGroup(b *strings.Builder, all []finding.Finding, s finding.Severity, o Options) {
	fs := slices.DeleteFunc(slices.Clone(all), func(f finding.Finding) bool { return f.Severity != s })
	if len(fs) == 0 {
		return
	}
	said := func(f finding.Finding) string { return f.ID + fmt.Sprint(details(f)) }
	first := map[string]int{}
	for i, f := range slices.Backward(fs) {
		first[said(f)] = i
	}
	slices.SortStableFunc(fs, func(a, b finding.Finding) int { return cmp.Compare(first[said(a)], first[said(b)]) })
	width := 0
	for _, f := range fs {
		width = max(width, utf8.RuneCountInString(printable.Line(f.ID)))
	}
	label := fmt.Sprintf("%-*s", labelWidth, s)
	if o.Color {
		label = Colored(label, s)
	}
	for i, f := range fs {
		writeLine(b, fmt.Sprintf("%s %-*s  %s", label, width, printable.Line(f.ID), printable.Line(f.Object)))
		if i+1 < len(fs) && said(fs[i+1]) == said(f) {
			continue
		}
		for _, d := range details(f) {
			head := fmt.Sprintf("%*s%-*s  ", indent, "", nameWidth, d.name)
			for _, line := range CleanLines(d.text) {
				writeLine(b, head+line)
				head = strings.Repeat(" ", hanging)
			}
		}
	}
	b.WriteString("\n")
}

func writeLine(b *strings.Builder, line string) { b.WriteString(strings.TrimRight(line, " ") + "\n") }

// closing is the line that is read first: what was looked at, and how bad it
// is. The counts that decide are there even when they are 0.
func closing(r Report) string {
	var b strings.Builder
	if r.Subject != "" {
		b.WriteString(printable.Line(r.Subject) + ": ")
	}
	if r.Checked != "" {
		b.WriteString(printable.Line(r.Checked) + " checked: ")
	}
	var counts []string
	for s := finding.Block; s >= finding.Pass; s-- {
		if n := finding.Count(r.Findings, s); n > 0 || s >= finding.Warn {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return b.String() + strings.Join(counts, ", ")
}
