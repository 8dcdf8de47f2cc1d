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
		label = "\x1b[" + colors[s] + "m" + label + "\x1b[0m"
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
