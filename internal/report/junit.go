package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []JUnitSuite `xml:"testsuite"`
}

// JUnitSuite and its parts are the JUnit elements that Jenkins, GitLab and Prow
// read, in the order that https://github.com/jenkinsci/xunit-plugin (junit-10.xsd)
// wants.
type JUnitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []JUnitCase `xml:"testcase"`
	Output   *JUnitText  `xml:"system-out,omitempty"`
}

// JUnitCase is a test that passed, unless it has a Skipped, Error or Failure.
type JUnitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Skipped *JUnitMessage `xml:"skipped,omitempty"`
	Error   *JUnitMessage `xml:"error,omitempty"`
	Failure *JUnitMessage `xml:"failure,omitempty"`
	Output  *JUnitText    `xml:"system-out,omitempty"`
}

// JUnitMessage says why a test was skipped or failed.
type JUnitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	JUnitText
}

// JUnitText is text that keeps its line ends readable, for those who look at the file.
type JUnitText struct {
	Text string `xml:",cdata"`
}

// encodeJUnit makes a test case of each finding. The ones that fail the
// command fail in CI too, and no others.
func encodeJUnit(r Report) (string, error) {
	suite := JUnitSuite{Name: printable.Line(cmp.Or(r.Subject, r.Tool, "winbake"))}
	if len(r.Notes) > 0 {
		suite.Output = &JUnitText{strings.Join(CleanLines(strings.Join(r.Notes, "\n")), "\n")}
	}
	for _, f := range r.Findings {
		suite.add(f, r.FailOn)
	}
	if len(r.Findings) == 0 {
		// Jenkins fails a build whose reports have no test in them.
		suite.add(finding.Finding{ID: "checked", Object: cmp.Or(r.Checked, r.Subject)}, r.FailOn)
	}
	return suite.Encode()
}

// Encode writes the file of one suite.
func (s *JUnitSuite) Encode() (string, error) {
	out, err := xml.MarshalIndent(junitSuites{Suites: []JUnitSuite{*s}}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode JUnit: %w", err)
	}
	return xml.Header + string(out) + "\n", nil
}

// Add takes a test and counts it.
func (s *JUnitSuite) Add(c JUnitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func (s *JUnitSuite) add(f finding.Finding, failOn finding.FailOn) {
	c := JUnitCase{Class: printable.Line(classOf(f.ID)), Name: printable.Line(strings.TrimSpace(f.ID + " " + f.Object))}
	text := JUnitText{detailText(f)}
	message := &JUnitMessage{printable.Line(cmp.Or(f.Observed, f.Why)), f.Severity.String(), text}
	switch {
	case f.Severity < finding.Severity(failOn):
		c.Output = &text
	case f.Severity == finding.Unknown:
		c.Error = message
	default:
		c.Failure = message
	}
	s.Add(c)
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
