package report

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/finding"
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
	f.Add(hostile, 0)
	f.Add("two  spaces and a veryveryveryveryveryveryverylong word\n\n", 30)
	f.Add(strings.Repeat("ab ", 40), 1)
	f.Add("]]></failure><failure>", 80)
	f.Fuzz(func(t *testing.T, s string, width int) {
		one := finding.Finding{ID: s, Severity: finding.Block, Object: s, Observed: s, Why: s, Remedy: s}
		r := Report{Tool: "verify", Subject: s, Findings: []finding.Finding{one}, Notes: []string{s}}
		for _, format := range Formats {
			safe(t, format, write(t, format, r, Options{Width: width}))
		}
		if out := write(t, "json", r, Options{}); !json.Valid([]byte(out)) {
			t.Errorf("not JSON: %s", out)
		}
		if err := xml.Unmarshal([]byte(write(t, "junit", r, Options{})), new(junitSuites)); err != nil {
			t.Error(err)
		}
	})
}

func TestWrapping(t *testing.T) {
	long := strings.Repeat("x", 30)
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three four five six", 24, "- one two three four\n  five six\n"},
		{"aaaaaaaaaaaaaaaaaaaaaa", 24, "- aaaaaaaaaaaaaaaaaaaaaa\n"},
		{"aaaaaaaaaaaaaaaaaaaaaa b", 24, "- aaaaaaaaaaaaaaaaaaaaaa\n  b\n"},
		{"a " + long + " b c", 24, "- a\n  " + long + "\n  b c\n"},
		{long + " " + long, 24, "- " + long + "\n  " + long + "\n"},
		{"äöü äöü äöü äöü äöü äöü", 24, "- äöü äöü äöü äöü äöü\n  äöü\n"},
		{"one two three four five six", 0, "- one two three four five six\n"},
		{"", 24, "-\n"},
	} {
		var b strings.Builder
		writeWrapped(&b, "- ", 2, tt.in, tt.width)
		if b.String() != tt.want {
			t.Errorf("%q at %d:\n%s", tt.in, tt.width, b.String())
		}
	}
}
