package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// The JUnit elements that Jenkins, GitLab and Prow read
// (https://github.com/testmoapp/junitxml).
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Error   *junitMessage `xml:"error,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(w io.Writer, r Report) error {
	suite := junitSuite{Name: Clean(r.Subject), Tests: len(r.Findings)}
	for _, f := range r.Findings {
		c := junitCase{Class: Clean(f.ID), Name: Clean(f.Object)}
		text := details(f)
		switch {
		case f.Severity == finding.Unknown && f.Severity >= finding.Severity(r.FailOn):
			c.Error = &junitMessage{Clean(f.Observed), text}
			suite.Errors++
		case f.Severity >= finding.Severity(r.FailOn):
			c.Failure = &junitMessage{Clean(f.Observed), text}
			suite.Failures++
		default:
			c.Output = text
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func details(f finding.Finding) string {
	var lines []string
	for _, l := range []struct{ name, text string }{
		{"severity", f.Severity.String()}, {"observed", f.Observed}, {"expected", f.Expected}, {"why", f.Why}, {"remedy", f.Remedy},
	} {
		if l.text != "" {
			lines = append(lines, l.name+": "+cleanLines(l.text))
		}
	}
	return strings.Join(lines, "\n")
}
