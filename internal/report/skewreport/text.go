package skewreport

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

const (
	defaultWidth = 100
	labelWidth   = len("UNKNOWN")
	indent       = labelWidth + 1 // of what belongs to a finding
	nameWidth    = len("observed")
	hanging      = indent + nameWidth + 2
	// minRoom is what wrapping leaves for text, however narrow the terminal.
	minRoom = 20
	// fewEvidence is how many places are shown unless all are asked for.
	fewEvidence = 3
)

var colors = map[finding.Severity]string{
	finding.Block: "31", finding.Unknown: "35", finding.Warn: "33", finding.Info: "36", finding.Pass: "32",
}

// textWriter writes the report for a terminal.
type textWriter struct {
	strings.Builder
	*Document
	Options
}

func encodeText(d *Document, o Options) (string, error) { //nolint:unparam // of the type that all formats have
	o.Width = cmp.Or(o.Width, defaultWidth)
	w := &textWriter{Document: d.display(), Options: o}
	w.verdict()
	w.drivers()
	for s := finding.Block; s >= finding.Pass; s-- {
		if s > finding.Pass || o.Verbose {
			w.findings(s)
		}
	}
	w.accepted()
	w.notEvaluated()
	w.sources()
	w.next()
	return w.String(), nil
}

// label is a severity, padded and coloured.
func (w *textWriter) label(s finding.Severity) string {
	return w.colored(pad(s.String(), labelWidth), s)
}

func (w *textWriter) colored(text string, s finding.Severity) string {
	if !w.Color {
		return text
	}
	return "\x1b[" + colors[s] + "m" + text + "\x1b[0m"
}

// heading starts a part of the report.
func (w *textWriter) heading(text string) {
	if w.Color {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	w.WriteString("\n" + text + "\n")
}

// prose writes text wrapped, after head on the first line and under it on the
// others. columns is head's width, which colours hide.
func (w *textWriter) prose(head string, columns int, text string) {
	for _, line := range wrap(text, max(w.Width-columns, minRoom)) {
		w.line(head + line)
		head = strings.Repeat(" ", columns)
	}
}

// line writes one line as it is.
func (w *textWriter) line(text string) { w.WriteString(strings.TrimRight(text, " ") + "\n") }

func (w *textWriter) verdict() {
	w.prose(w.label(w.Verdict)+" ", indent, w.Summary)
	var counts []string
	for s := finding.Block; s >= finding.Pass; s-- {
		if n := w.Counts[s.String()]; n > 0 || s >= finding.Warn {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	w.prose(strings.Repeat(" ", indent), indent, strings.Join(counts, ", "))
	w.digest()
}

// mostDigest is how many findings the verdict names.
const mostDigest = 4

// digest names, a line each, the findings that decide the verdict: the tables
// stand before the findings, and may be long.
func (w *textWriter) digest() {
	if w.Verdict < finding.Unknown {
		return
	}
	n := 0
	for _, f := range w.Findings {
		if f.Severity != w.Verdict || f.Accepted != "" {
			continue
		}
		if n++; n <= mostDigest {
			w.line(strings.Repeat(" ", indent) + cutTo(f.ID+" "+named(f)+f.Observed, max(w.Width-indent, minRoom)))
		}
	}
	if n > mostDigest {
		w.line(strings.Repeat(" ", indent) + fmt.Sprintf("and %d more", n-mostDigest))
	}
}

// named is the short name of a finding's object, "" where the observation has
// it.
func named(f finding.Finding) string {
	name := f.Object
	if full, ok := strings.CutPrefix(name, "DaemonSet "); ok {
		name = full[strings.LastIndexByte(full, '/')+1:]
	}
	if strings.Contains(f.Observed, name) {
		return ""
	}
	return name + ": "
}

// cutTo is text in one line of so many columns.
func cutTo(text string, width int) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if columns(text) <= width {
		return text
	}
	const more = " ..."
	used := len(more)
	for i, r := range text {
		if used += runeColumns(r); used <= width {
			continue
		}
		if space := strings.LastIndexByte(text[:i], ' '); space > i/2 {
			i = space // between words, where that leaves enough
		}
		return strings.TrimRight(text[:i], " ;:,") + more
	}
	return text
}

// findings writes those of one severity that nobody accepted.
func (w *textWriter) findings(s finding.Severity) {
	first := true
	for _, f := range w.Findings {
		if f.Severity != s || f.Accepted != "" {
			continue
		}
		if first {
			w.heading(severityHeading(s))
		} else if s > finding.Pass {
			w.line("")
		}
		first = false
		w.finding(f, w.label(s))
	}
}

// severityHeading says what to do about findings of one severity.
func severityHeading(s finding.Severity) string {
	switch s {
	case finding.Block:
		return "What stands in the way"
	case finding.Unknown:
		return "What couldn't be told"
	case finding.Warn:
		return "What to heed"
	case finding.Info:
		return "Good to know"
	case finding.Pass:
	}
	return "What is well"
}

func (w *textWriter) finding(f finding.Finding, label string) {
	w.prose(label+" ", indent, strings.TrimSpace(f.ID+" "+w.title(f.ID)))
	w.copied("object", f.Object)
	w.detail("at", moment(f.Hop, f.Phase))
	w.detail("observed", f.Observed)
	w.detail("expected", f.Expected)
	w.detail("why", why(f.Why, f.Accepted))
	if f.Remedy != "" || len(f.Actions) > 0 {
		w.detail("when", due(f.When, f.Hop))
	}
	w.remedy(advice(f))
	w.copied("source", f.Source)
	w.evidence(f.Evidence)
}

func detailHead(name string) string { return strings.Repeat(" ", indent) + pad(name, nameWidth) + "  " }

// detail writes one named part of a finding, wrapped line by line.
func (w *textWriter) detail(name, text string) {
	if text == "" {
		return
	}
	head := detailHead(name)
	for line := range strings.SplitSeq(text, "\n") {
		w.prose(head, hanging, line)
		head = strings.Repeat(" ", hanging)
	}
}

// copied writes what is there to be copied: never wrapped.
func (w *textWriter) copied(name, text string) {
	if text != "" {
		w.line(detailHead(name) + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", hanging)))
	}
}

func (w *textWriter) remedy(all []paragraph) {
	head := detailHead("remedy")
	for _, p := range all {
		if p.Command {
			w.line(head + strings.ReplaceAll(p.Text, "\n", "\n"+strings.Repeat(" ", hanging)))
		} else {
			w.prose(head, hanging, p.Text)
		}
		head = strings.Repeat(" ", hanging)
	}
}

func (w *textWriter) evidence(all []string) {
	more := 0
	if n := len(all); !w.Verbose && n > fewEvidence+1 {
		all, more = all[:fewEvidence], n-fewEvidence
	}
	for i, e := range all {
		w.copied([]string{"evidence", ""}[min(i, 1)], e)
	}
	if more > 0 {
		w.copied("", fmt.Sprintf("and %d more; --verbose lists them", more))
	}
}
