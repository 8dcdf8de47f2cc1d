package report

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/finding"
)

// safe reports the first thing that a terminal would act upon.
func safe(t *testing.T, format, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%s: not UTF-8: %q", format, out)
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%s: reaches the terminal raw: %q", format, out[i:min(len(out), i+20)])
	}
}

func FuzzWrite(f *testing.F) {
	f.Add(hostile)
	f.Add("two  spaces and a veryveryveryveryveryveryverylong word\n\n")
	f.Add(strings.Repeat("ab ", 40))
	f.Add("]]></failure><failure>")
	f.Fuzz(func(t *testing.T, s string) {
		one := finding.Finding{ID: s, Severity: finding.Block, Object: s, Observed: s, Why: s, Remedy: s}
		r := Report{Tool: "verify", Subject: s, Findings: []finding.Finding{one}, Notes: []string{s}}
		for _, format := range Formats {
			safe(t, format, write(t, format, r, Options{}))
		}
		if out := write(t, "json", r, Options{}); !json.Valid([]byte(out)) {
			t.Errorf("not JSON: %s", out)
		}
		if err := xml.Unmarshal([]byte(write(t, "junit", r, Options{})), new(junitSuites)); err != nil {
			t.Error(err)
		}
	})
}
