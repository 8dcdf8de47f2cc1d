package skewreport

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// markdown writes GitHub's dialect, in which change requests and pull requests
// are read: https://github.github.com/gfm/
type markdown struct {
	strings.Builder
	*Document
}

func encodeMarkdown(d *Document, _ Options) (string, error) { //nolint:unparam // of the type that all formats have
	m := &markdown{Document: d.display()}
	m.block("# Windows CSI driver skew" + escape(m.route(": ")))
	m.block("**" + m.Verdict.String() + "**: " + escape(m.Summary))
	m.drivers()
	m.block("## What to do")
	m.steps()
	m.findings()
	m.notEvaluated()
	m.sources()
	m.signature()
	return strings.TrimRight(m.String(), "\n") + "\n", nil
}

// block writes a block and the empty line after it.
func (m *markdown) block(text string) { m.WriteString(text + "\n\n") }

// route names the releases, after sep.
func (d *Document) route(sep string) string {
	if d.From == "" && d.To == "" {
		return ""
	}
	if d.From == "" {
		return sep + "OpenShift to " + d.To
	}
	if d.To == "" {
		return sep + "OpenShift " + d.From
	}
	return sep + "OpenShift " + d.From + " to " + d.To
}

func (m *markdown) drivers() {
	if len(m.Drivers) == 0 {
		return
	}
	m.WriteString("| " + strings.Join(tableHead, " | ") + " |\n|" + strings.Repeat("---|", len(tableHead)) + "\n")
	for _, r := range m.rows() {
		cells := r.cells()
		for i, c := range cells {
			cells[i] = escape(c)
		}
		m.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	m.WriteString("\n")
	for _, note := range m.certaintyNotes() {
		m.block(escape(note))
	}
}

func (m *markdown) findings() {
	heading := ""
	for _, f := range m.Findings {
		if f.Severity == finding.Pass {
			continue
		}
		if h := groupOf(f); h != heading {
			m.block("## " + h)
			heading = h
		}
		m.finding(f)
	}
}

func (m *markdown) finding(f finding.Finding) {
	m.block("### " + firstOf(f.Accepted, f.Severity.String()) + " " + escape(strings.TrimSpace(f.ID+" "+m.title(f.ID))))
	for _, p := range parts(f) {
		switch p.Name {
		case "object":
			m.WriteString("- object: " + code(p.Text) + "\n")
		case "evidence":
			for i, e := range f.Evidence {
				m.WriteString([]string{"- evidence: ", "  "}[min(i, 1)] + code(e) + "\n")
			}
		case "remedy":
		case "source":
			m.WriteString("- source: " + link(p.Text) + "\n")
		default:
			m.WriteString("- " + p.Name + ": " + escape(oneLine(p.Text)) + "\n")
		}
	}
	m.WriteString("\n")
	m.remedy("", advice(f))
}

// remedy writes prose as paragraphs and commands as code blocks, all of it
// indented to stand in a list.
func (m *markdown) remedy(indent string, all []paragraph) {
	for _, p := range all {
		if p.Command {
			m.block(fence(indent, p.Text))
		} else {
			m.block(indent + escape(p.Text))
		}
	}
}

func (m *markdown) notEvaluated() {
	if len(m.NotEvaluated) == 0 {
		return
	}
	m.block("## Rules not evaluated")
	for _, n := range m.NotEvaluated {
		m.WriteString("- " + escape(n.Rule) + ": " + escape(n.Reason) + "\n")
	}
	m.WriteString("\n")
}

func (m *markdown) sources() {
	m.block("## What was read")
	for _, l := range m.readLines() {
		m.WriteString("- " + escape(l) + "\n")
	}
	for _, p := range m.Problems {
		m.WriteString("- couldn't read " + escape(oneLine(problem(p))) + "\n")
		if p.Fix != "" {
			m.WriteString("  Fix: " + code(p.Fix) + "\n")
		}
	}
	m.WriteString("\n")
}

func (m *markdown) signature() {
	said := "Written by " + escape(strings.TrimSpace(firstOf(m.Tool.Name, "verify")+" "+m.Tool.Version))
	if m.Date != "" {
		said += " on " + escape(m.Date)
	}
	m.block(said + ".")
	if m.Tool.CommandLine != "" {
		m.block(fence("", m.Tool.CommandLine))
	}
}

// special is what means something to Markdown inside a line; a URL would
// become a link to wherever a name in a cluster points.
var (
	special = strings.NewReplacer(`\`, `\\`, "`", "&#96;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`,
		"|", `\|`, "~", `\~`, "#", `\#`, "&", `\&`, "!", `\!`, "$", `\$`, "@", `\@`, "://", `\://`, "www.", `www\.`)
	// listStart would make a list, a heading or a rule of the start of a line.
	listStart = regexp.MustCompile(`^\s*(?:[-+=]|[0-9]+[.)](?:\s|$))`)
	backticks = regexp.MustCompile("`+")
)

// escape makes text stand in a line of Markdown as the characters that it is.
func escape(s string) string {
	s = special.Replace(strings.ReplaceAll(s, " -> ", " → "))
	s = strings.TrimLeft(s, " ")
	if listStart.MatchString(s) {
		i := strings.IndexAny(s, "-+=.)")
		s = s[:i] + `\` + s[i:]
	}
	return s
}

// plainURL is a URL in which nothing could end a link early.
var plainURL = regexp.MustCompile(`^https://[-A-Za-z0-9._~/:?#=&%+@,;]+$`)

// link writes a URL as one, and anything else as text.
func link(s string) string {
	if plainURL.MatchString(s) {
		return "<" + s + ">"
	}
	return escape(oneLine(s))
}

// code writes s as a code span, in which nothing has a meaning but backticks.
func code(s string) string {
	s = oneLine(s)
	mark := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return mark + s + mark
}

// fence writes a code block whose fence is longer than any in it.
func fence(indent, text string) string {
	mark := strings.Repeat("`", max(3, longestRun(text)+1))
	lines := append([]string{mark + "sh"}, strings.Split(text, "\n")...)
	return indent + strings.Join(append(lines, mark), "\n"+indent)
}

func longestRun(s string) int {
	n := 0
	for _, run := range backticks.FindAllString(s, -1) {
		n = max(n, len(run))
	}
	return n
}
