// Package report writes findings for people and machines: text, JSON, JUnit.
// It judges nothing; severities and exit codes are package finding's.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
)

// Formats are the values of -o.
var Formats = []string{"text", "json", "junit"}

// Report is what a check found.
type Report struct {
	// Subject is what was checked, as it was named.
	Subject string
	// Checked counts what was looked at, such as "13 files".
	Checked  string
	Findings []finding.Finding
	// FailOn decides what JUnit calls a failure.
	FailOn finding.FailOn
}

// Options are for people's eyes.
type Options struct {
	Color   bool
	Verbose bool // list PASS findings too
}

// Write writes r in one of Formats.
func Write(w io.Writer, format string, r Report, o Options) error {
	finding.Sort(r.Findings)
	switch format {
	case "text":
		return writeText(w, r, o)
	case "json":
		return writeJSON(w, r)
	case "junit":
		return writeJUnit(w, r)
	}
	return &fault.Error{What: fmt.Sprintf("unknown output format %q", format), Fix: "-o " + strings.Join(Formats, ", -o ")}
}

// SchemaVersion is raised when a field of the JSON report changes its
// meaning; fields may be added without.
const SchemaVersion = 1

func writeJSON(w io.Writer, r Report) error {
	counts := map[string]int{}
	for _, f := range r.Findings {
		counts[f.Severity.String()]++
	}
	if r.Findings == nil {
		r.Findings = []finding.Finding{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		SchemaVersion int               `json:"schemaVersion"`
		Subject       string            `json:"subject"`
		Checked       string            `json:"checked,omitempty"`
		Verdict       finding.Severity  `json:"verdict"`
		Counts        map[string]int    `json:"counts"`
		Findings      []finding.Finding `json:"findings"`
	}{SchemaVersion, r.Subject, r.Checked, finding.Worst(r.Findings), counts, r.Findings})
}

var colors = map[finding.Severity]string{
	finding.Block: "31", finding.Unknown: "35", finding.Warn: "33", finding.Info: "36", finding.Pass: "32",
}

func writeText(w io.Writer, r Report, o Options) error {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Severity == finding.Pass && !o.Verbose {
			continue
		}
		label := fmt.Sprintf("%-7s", f.Severity)
		if o.Color {
			label = "\x1b[" + colors[f.Severity] + "m" + label + "\x1b[0m"
		}
		fmt.Fprintf(&b, "%s %s  %s\n", label, Clean(f.ID), Clean(f.Object))
		for _, line := range []struct{ name, text string }{
			{"observed", f.Observed}, {"expected", f.Expected}, {"why", f.Why}, {"remedy", f.Remedy}, {"when", f.When},
		} {
			if line.text != "" {
				fmt.Fprintf(&b, "        %-9s %s\n", line.name, strings.ReplaceAll(cleanLines(line.text), "\n", "\n                  "))
			}
		}
	}
	summary := Clean(r.Subject)
	if r.Checked != "" {
		summary += ": " + Clean(r.Checked)
	}
	fmt.Fprintf(&b, "%s: %d BLOCK, %d UNKNOWN, %d WARN, %d INFO, %d PASS\n", summary,
		finding.Count(r.Findings, finding.Block), finding.Count(r.Findings, finding.Unknown),
		finding.Count(r.Findings, finding.Warn), finding.Count(r.Findings, finding.Info), finding.Count(r.Findings, finding.Pass))
	_, err := io.WriteString(w, b.String())
	return err
}

// Clean makes text from an image fit for a terminal: control characters,
// escapes and broken UTF-8 are written as \x1b and the like.
func Clean(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
