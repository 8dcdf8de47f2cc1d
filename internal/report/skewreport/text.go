package skewreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/skew"
	"github.com/winbake/winbake/internal/skew/snapshot"
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
	// fewGrounds is how many findings the short text names in full.
	fewGrounds = 5
	// commandBy is the line of the short text by which its first command is there.
	commandBy = 12
)

// textWriter writes the report for a terminal.
type textWriter struct {
	strings.Builder
	*Document
	Options
	// most is how many drivers the short text shows, the worst first.
	most int
	// command is the line of the first command; 0 for none.
	command int
}

// Options are for people's eyes: only text heeds them.
type Options struct {
	Color bool
	// Details shows the drivers at each update, all steps, and what was observed
	// and expected, with evidence and source.
	Details bool
	// Verbose lists passed rules, and all evidence instead of the first few.
	Verbose bool
	// Width is in columns; 0 is 100. Prose is wrapped to it; commands
	// and evidence, which are there to be copied, aren't.
	Width int
}

// encodeText writes the verdict, one table, what to do, and the grounds: in two
// lines each, or with all that is known of them. The short text leaves out drivers
// where the first command would be far down.
func encodeText(d *Document, o Options) (string, error) { //nolint:unparam // of the type that all formats have
	o.Width = cmp.Or(o.Width, defaultWidth)
	d = d.display()
	for most := fewDrivers; ; most-- {
		w := &textWriter{Document: d, Options: o, most: most}
		w.all()
		if o.Details || w.command <= commandBy || most == 1 {
			return w.String(), nil
		}
	}
}

func (w *textWriter) all() {
	w.prose(w.label(w.Verdict)+" ", indent, w.Summary)
	w.drivers()
	w.todo()
	if w.Details {
		w.findings()
		w.notEvaluated()
		w.sources()
	} else {
		w.grounds()
		w.rest()
	}
}

func (w *textWriter) label(s finding.Severity) string {
	return w.colored(pad(s.String(), labelWidth), s)
}

func (w *textWriter) colored(text string, s finding.Severity) string {
	if !w.Color {
		return text
	}
	return report.Colored(text, s)
}

func (w *textWriter) heading(text string) {
	if w.Color {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	w.WriteString("\n" + text + "\n")
}

// prose writes text wrapped, after head on the first line and under it on the
// others. columns is head's width, which colours hide.
func (w *textWriter) prose(head string, columns int, text string) {
	for _, line := range printable.Wrap(text, max(w.Width-columns, minRoom)) {
		w.line(head + line)
		head = strings.Repeat(" ", columns)
	}
}

func (w *textWriter) commands(head, text string) {
	if w.command == 0 {
		w.command = strings.Count(w.String(), "\n") + 1
	}
	w.copied(head, text)
}

func (w *textWriter) line(text string) { w.WriteString(strings.TrimRight(text, " ") + "\n") }

// copied writes lines that are there to be copied: never wrapped.
func (w *textWriter) copied(head, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		w.line(head + line)
		head = strings.Repeat(" ", printable.Columns(head))
	}
}

// short is a line of text, cut to the width.
func (w *textWriter) short(head string, columns int, text string) {
	w.line(head + cutTo(text, max(w.Width-columns, minRoom)))
}

// grounds says in full what makes the verdict, and in a line each what else there is.
func (w *textWriter) grounds() {
	var more []string
	n := 0
	for _, f := range w.Findings {
		if f.Severity <= finding.Info {
			continue
		}
		if n++; n > fewGrounds {
			more = append(more, f.ID)
			continue
		}
		if n == 1 {
			w.heading("Why")
		}
		if head, said := w.label(f.Severity)+" ", f.ID+" "+w.about(f)+f.Observed; f.Severity == w.Verdict {
			w.prose(head, indent, said)
			if f.Why != "" {
				w.prose(strings.Repeat(" ", indent), indent, f.Why)
			}
		} else {
			w.short(head, indent, said)
		}
	}
	if len(more) > 0 {
		w.prose(strings.Repeat(" ", indent), indent, fmt.Sprintf("and %d more: %s", len(more), tally(more)))
	}
}

// about says which object a finding is about, unless the observation does, and
// at which of several updates.
func (w *textWriter) about(f finding.Finding) string {
	said, short := f.Object, shortObject(f.Object)
	if strings.Contains(said, "/") {
		said = short
	}
	if strings.Contains(f.Observed, short) {
		said = ""
	} else if i := slices.IndexFunc(w.Drivers, func(r skew.Row) bool { return r.Object == f.Object }); i >= 0 {
		said = w.driverName(w.Drivers[i])
	}
	if len(w.Hops) > 1 && f.Hop != "" {
		said = strings.TrimSpace(said + " at " + hopWords(f.Hop))
	}
	if said != "" {
		said += ": "
	}
	return said
}

// rest says in a line each what else there is, what was read, and how old the
// facts are.
func (w *textWriter) rest() {
	var notes, accepted, open []string
	ofDriver := func(f finding.Finding) bool {
		return slices.ContainsFunc(w.Drivers, func(r skew.Row) bool { return r.Object == f.Object })
	}
	// The line is cut: what is said of drivers comes first.
	for _, f := range slices.Concat(snapshot.Part(w.Findings, ofDriver)) {
		switch {
		case f.Accepted != "":
			accepted = append(accepted, f.ID)
		case f.Severity == finding.Info || f.Severity == finding.Pass && w.Verbose:
			notes = append(notes, f.ID+" "+f.Observed)
		}
	}
	for _, n := range w.NotEvaluated {
		open = append(open, n.Rule)
	}
	if w.Verdict > finding.Info || len(w.Steps) == 0 || w.To == "" {
		w.line("")
	}
	w.few("Accepted: ", tally(accepted))
	w.few("Not evaluated: ", tally(open))
	if w.Verbose {
		for _, n := range notes {
			w.few("Note: ", n)
		}
	} else {
		w.few("Notes: ", strings.Join(notes, "; "))
	}
	w.prose("Read: ", len("Read: "), w.readLine()+" More: --details")
}

func (w *textWriter) few(head, text string) {
	if text != "" {
		w.short(head, len(head), text)
	}
}

// findings writes all that is known of each finding, worst first.
func (w *textWriter) findings() {
	heading := ""
	for _, f := range w.Findings {
		if f.Severity == finding.Pass && !w.Verbose {
			continue
		}
		if h := groupOf(f); h != heading {
			w.heading(h)
			heading = h
		} else if f.Severity > finding.Pass {
			w.line("")
		}
		label := w.label(f.Severity)
		if f.Accepted != "" {
			label = w.colored(pad(f.Accepted, labelWidth), finding.Info)
		}
		w.finding(f, label)
	}
}

func (w *textWriter) finding(f finding.Finding, label string) {
	w.prose(label+" ", indent, strings.TrimSpace(f.ID+" "+w.title(f.ID)))
	for _, p := range parts(f) {
		head := strings.Repeat(" ", indent) + pad(p.Name, nameWidth) + "  "
		switch {
		case p.Name == "evidence":
			w.evidence(head, f.Evidence)
		case p.Name == "remedy":
			w.remedy(head, advice(f))
		case p.Copied:
			w.copied(head, p.Text)
		default:
			w.prose(head, hanging, p.Text)
		}
	}
}

func (w *textWriter) remedy(head string, all []paragraph) {
	for _, p := range all {
		if p.Command {
			w.copied(head, p.Text)
		} else {
			w.prose(head, hanging, p.Text)
		}
		head = strings.Repeat(" ", hanging)
	}
}

func (w *textWriter) evidence(head string, all []string) {
	more := ""
	if n := len(all); !w.Verbose && n > fewEvidence+1 {
		all, more = all[:fewEvidence], fmt.Sprintf("\nand %d more; --verbose lists them", n-fewEvidence)
	}
	w.copied(head, strings.Join(all, "\n")+more)
}

func (w *textWriter) notEvaluated() {
	if len(w.NotEvaluated) == 0 {
		return
	}
	w.heading("Rules not evaluated")
	width := 0
	for _, n := range w.NotEvaluated {
		width = min(max(width, printable.Columns(n.Rule)), minRoom)
	}
	for _, n := range w.NotEvaluated {
		w.prose("  "+pad(n.Rule, width)+"  ", width+4, n.Reason)
	}
}

func (w *textWriter) sources() {
	w.heading("What was read")
	for _, l := range w.readLines() {
		w.prose("  ", 2, l)
	}
	for _, p := range w.Problems {
		w.prose("  ", 4, "couldn't read "+problem(p))
		if p.Fix != "" {
			w.line("    fix: " + p.Fix)
		}
		if p.Command != "" {
			w.line("      " + p.Command)
		}
	}
}
