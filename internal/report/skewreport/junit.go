package skewreport

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/skew"
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
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
	Output   junitText   `xml:"system-out"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Error   *junitMessage `xml:"error,omitempty"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Output  *junitText    `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	junitText
}

// junitText keeps its line ends readable, for those who look at the file.
type junitText struct {
	Text string `xml:",cdata"`
}

// encodeJUnit makes a test case of each rule: it fails if one of its findings
// makes the command fail, and is skipped if it couldn't be evaluated.
func encodeJUnit(d *Document, _ Options) (string, error) {
	d = d.display()
	suite := junitSuite{Name: "verify skew", Output: junitText{d.Summary + "\n" + strings.Join(d.readLines(), "\n")}}
	if d.From != "" || d.To != "" {
		suite.Name += " " + change(d.From, d.To)
	}
	for _, r := range d.Rules {
		suite.add(d.junitCase(r))
	}
	if len(suite.Cases) == 0 {
		// Jenkins fails a build whose reports have no test in them.
		suite.add(junitCase{Class: "skew", Name: "evaluated", Output: &junitText{"no rule was evaluated"}})
	}
	out, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode JUnit: %w", err)
	}
	return xml.Header + string(out) + "\n", nil
}

// failing is the least severity that makes the command fail.
func (d *Document) failing() finding.Severity {
	f := finding.DefaultFailOn
	_ = f.Set(d.FailOn) // newDocument took it from a FailOn
	return finding.Severity(f)
}

func (d *Document) junitCase(r RuleInfo) junitCase {
	c := junitCase{Class: "skew." + strings.TrimRight(r.ID, "0123456789"), Name: strings.TrimSpace(r.ID + " " + r.Title)}
	var failed, rest []finding.Finding
	for _, f := range d.Findings {
		switch {
		case f.ID != r.ID:
		case f.Severity >= d.failing():
			failed = append(failed, f)
		default:
			rest = append(rest, f)
		}
	}
	if len(failed) > 0 {
		worst := finding.Worst(failed)
		message := &junitMessage{junitHeadline(failed), worst.String(), junitText{junitDetails(failed)}}
		if worst == finding.Unknown {
			c.Error = message
		} else {
			c.Failure = message
		}
	} else if i := slices.IndexFunc(d.NotEvaluated, func(n skew.NotEvaluated) bool { return n.Rule == r.ID }); i >= 0 {
		c.Skipped = &junitMessage{Message: d.NotEvaluated[i].Reason}
	}
	if len(rest) > 0 {
		c.Output = &junitText{junitDetails(rest)}
	}
	return c
}

func (s *junitSuite) add(c junitCase) {
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

func junitHeadline(fs []finding.Finding) string {
	said := oneLine(strings.TrimSpace(fs[0].Object + ": " + firstOf(fs[0].Observed, fs[0].Why)))
	if len(fs) > 1 {
		said += fmt.Sprintf(" (and %d more)", len(fs)-1)
	}
	return said
}

func junitDetails(fs []finding.Finding) string {
	var blocks []string
	for _, f := range fs {
		lines := []string{strings.TrimSpace(f.Severity.String() + " " + f.Object)}
		for _, p := range parts(f) {
			lines = append(lines, p.Name+": "+p.Text)
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return strings.Join(blocks, "\n\n")
}
