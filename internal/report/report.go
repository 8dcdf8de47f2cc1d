// Package report writes findings for people and machines: text, JSON, JUnit.
// It judges nothing: severities and exit codes are package finding's.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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

const (
	labelWidth = len("UNKNOWN")
	nameWidth  = len("observed")
	indent     = labelWidth + 1         // of details
	hanging    = indent + nameWidth + 2 // of what they say
	// minWidth is what wrapping leaves for text, however narrow the terminal.
	minWidth = 20
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
		if s == finding.Pass && !o.Verbose {
			continue
		}
		writeGroup(&b, r.Findings, s, o)
	}
	for _, n := range r.Notes {
		writeWrapped(&b, "note: ", len("note: "), printable.Line(n), o.Width)
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
		head := fmt.Sprintf("%s %-*s  %s", label, width, printable.Line(f.ID), printable.Line(f.Object))
		b.WriteString(strings.TrimRight(head, " ") + "\n")
		if i+1 < len(fs) && said(fs[i+1]) == said(f) {
			continue
		}
		for _, d := range details(f) {
			writeDetail(b, d, o)
		}
	}
	b.WriteString("\n")
}

func writeDetail(b *strings.Builder, d detail, o Options) {
	width := o.Width
	if !d.prose {
		width = 0
	}
	head := fmt.Sprintf("%*s%-*s  ", indent, "", nameWidth, d.name)
	for _, line := range CleanLines(d.text) {
		writeWrapped(b, head, hanging, line, width)
		head = strings.Repeat(" ", hanging)
	}
}

// writeWrapped writes head and s, with later lines indented; width 0 breaks none.
func writeWrapped(b *strings.Builder, head string, indent int, s string, width int) {
	lines := []string{s}
	if width > 0 {
		lines = printable.Wrap(s, max(width-indent, minWidth))
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight(head+line, " ") + "\n")
		head = strings.Repeat(" ", indent)
	}
}

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
	for i, s := range []finding.Severity{finding.Block, finding.Unknown, finding.Warn, finding.Info, finding.Pass} {
		n := finding.Count(r.Findings, s)
		if s < finding.Warn && n == 0 {
			continue
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", n, s)
	}
	return b.String()
}
