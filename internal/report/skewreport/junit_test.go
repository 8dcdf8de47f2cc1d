package skewreport

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/report"
)

func junitOf(t testing.TB, r Report) report.JUnitSuite {
	t.Helper()
	var d struct {
		Suites []report.JUnitSuite `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(output(t, "junit", r, Options{})), &d); err != nil {
		t.Fatal(err)
	}
	return d.Suites[0]
}

// What CI calls failed is what makes the command fail, and nothing else.
func TestJUnitFollowsFailOn(t *testing.T) {
	for name, sample := range samples {
		for _, s := range []finding.Severity{finding.Warn, finding.Unknown, finding.Block} {
			r := sample()
			r.FailOn = finding.FailOn(s)
			suite := junitOf(t, r)
			if failed, want := suite.Failures+suite.Errors > 0, r.FailOn.ExitCode(r.Result.Findings) != 0; failed != want {
				t.Errorf("%s, fail on %v: %d failures and %d errors, exit code %d", name, s, suite.Failures, suite.Errors, r.FailOn.ExitCode(r.Result.Findings))
			}
			checkCounts(t, name, suite)
		}
	}
}

func checkCounts(t *testing.T, name string, s report.JUnitSuite) {
	t.Helper()
	var failures, errors, skipped int
	names := map[string]bool{}
	for _, c := range s.Cases {
		names[c.Name] = true
		switch {
		case c.Failure != nil:
			failures++
		case c.Error != nil:
			errors++
		case c.Skipped != nil:
			skipped++
		}
	}
	if s.Tests != len(s.Cases) || s.Failures != failures || s.Errors != errors || s.Skipped != skipped || len(names) != len(s.Cases) {
		t.Errorf("%s: counts don't hold: %+v", name, s)
	}
}

func TestJUnitRuleIsACase(t *testing.T) {
	suite := junitOf(t, mixed())
	want := map[string]string{"SKEW003": "failure", "SKEW001": "", "NODE001": "", "INTREE001": "skipped", "HP001": "", "HP005": ""}
	for _, c := range suite.Cases {
		id, _, _ := strings.Cut(c.Name, " ")
		state, known := want[id]
		got := map[bool]string{c.Failure != nil: "failure", c.Error != nil: "error", c.Skipped != nil: "skipped"}[true]
		if known && got != state {
			t.Errorf("%s: %q, want %q", id, got, state)
		}
		delete(want, id)
		if id == "SKEW001" && strings.Count(c.Output.Text, "WARN ") != 2 {
			t.Errorf("SKEW001 has two findings: %s", c.Output.Text)
		}
	}
	if len(want) > 0 {
		t.Errorf("no cases for %v", want)
	}
	empty := junitOf(t, Report{})
	if len(empty.Cases) != 1 {
		t.Errorf("Jenkins fails a report without a test: %+v", empty)
	}
}
