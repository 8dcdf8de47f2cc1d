package report

import (
	"cmp"
	"encoding/xml"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/printable"
)

// The JUnit elements that Jenkins, GitLab and Prow read, in the order that
// https://github.com/jenkinsci/xunit-plugin (junit-10.xsd) wants.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"` // always 0: nothing is skipped in silence
	Cases    []junitCase `xml:"testcase"`
	Output   *junitText  `xml:"system-out,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Error   *junitMessage `xml:"error,omitempty"`
	Output  *junitText    `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	junitText
}

// junitText keeps its line ends readable, for those who look at the file.
type junitText struct {
	Text string `xml:",cdata"`
}

// encodeJUnit makes a test case of each finding. The ones that fail the
// command fail in CI too, and no others.
func encodeJUnit(r Report) (string, error) {
	suite := junitSuite{Name: printable.Line(cmp.Or(r.Subject, r.Tool, "winbake"))}
	if len(r.Notes) > 0 {
		suite.Output = &junitText{strings.Join(CleanLines(strings.Join(r.Notes, "\n")), "\n")}
	}
	for _, f := range r.Findings {
		suite.add(f, r.FailOn)
	}
	if len(r.Findings) == 0 {
		// Jenkins fails a build whose reports have no test in them.
		suite.add(finding.Finding{ID: "checked", Object: cmp.Or(r.Checked, r.Subject)}, r.FailOn)
	}
	out, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	return xml.Header + string(out) + "\n", err
}

func (s *junitSuite) add(f finding.Finding, failOn finding.FailOn) {
	c := junitCase{Class: printable.Line(classOf(f.ID)), Name: printable.Line(strings.TrimSpace(f.ID + " " + f.Object))}
	text := junitText{detailText(f)}
	message := &junitMessage{printable.Line(cmp.Or(f.Observed, f.Why)), f.Severity.String(), text}
	switch {
	case f.Severity < finding.Severity(failOn):
		c.Output = &text
	case f.Severity == finding.Unknown:
		c.Error = message
		s.Errors++
	default:
		c.Failure = message
		s.Failures++
	}
	s.Tests++
	s.Cases = append(s.Cases, c)
}

// classOf returns the family of rules: binary.go of binary.go.version.
func classOf(id string) string {
	if i := strings.LastIndexByte(id, '.'); i > 0 {
		return id[:i]
	}
	return id
}

func detailText(f finding.Finding) string {
	lines := []string{"severity: " + f.Severity.String()}
	for _, d := range details(f) {
		lines = append(lines, d.name+": "+strings.Join(CleanLines(d.text), "\n"))
	}
	return strings.Join(lines, "\n")
}
