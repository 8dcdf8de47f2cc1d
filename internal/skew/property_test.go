package skew_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew"
)

// spoken are the severities in a rule's text.
var spoken = regexp.MustCompile(`\b(INFO|WARN|UNKNOWN|BLOCK)\b`)

// severities are those that a rule says of itself that it gives.
func severities(t *testing.T, r skew.Rule) []finding.Severity {
	t.Helper()
	var list []finding.Severity
	for _, name := range spoken.FindAllString(r.Text, -1) {
		var s finding.Severity
		if err := s.UnmarshalText([]byte(name)); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}

// TestEveryFindingCanBeFixed holds the tables to the rules: every severity
// that a rule says it gives has a case that gives it, and each of those that
// matter a change that its remedy describes and that makes it go away (the case
// runs it, in TestRules). A rule that reports has a case where it's silent.
func TestEveryFindingCanBeFixed(t *testing.T) {
	given := map[string][]finding.Severity{}
	for _, family := range families {
		for _, c := range family() {
			if c.want > finding.Info && !c.fixes() {
				t.Errorf("%s %s has no fix", c.id, c.name)
			}
			if !slices.Contains(given[c.id], c.want) {
				given[c.id] = append(given[c.id], c.want)
			}
		}
	}
	for _, rule := range skew.Rules() {
		says := severities(t, rule)
		for _, s := range says {
			if !slices.Contains(given[rule.ID], s) {
				t.Errorf("%s says that it gives %s, and no case has it", rule.ID, s)
			}
		}
		for _, s := range given[rule.ID] {
			if s != finding.Pass && !slices.Contains(says, s) {
				t.Errorf("%s gives %s, and its text doesn't say when", rule.ID, s)
			}
		}
		if !slices.Contains(given[rule.ID], finding.Pass) && rule.ID != "SKEW001" {
			t.Errorf("%s has no case where it is silent", rule.ID)
		}
		if len(says) == 0 || slices.Max(says) != rule.Severity {
			t.Errorf("%s: its worst is %s, its text says %v", rule.ID, rule.Severity, says)
		}
	}
	for id := range given {
		if _, ok := skew.Explain(id); !ok {
			t.Errorf("there is no rule %s", id)
		}
	}
}

// document is a file of a repository at a version: owner/name@ref:path.
var document = regexp.MustCompile(`^[\w.-]+/[\w.-]+@[\w./-]+:\S+$`)

// TestEveryRuleExplainsItself looks at what --explain prints.
func TestEveryRuleExplainsItself(t *testing.T) {
	seen := map[string]bool{}
	for _, want := range skew.Rules() {
		r, ok := skew.Explain(want.ID)
		if !ok || r.ID != want.ID || seen[r.ID] {
			t.Fatalf("%s: found %t, twice %t", want.ID, ok, seen[r.ID])
		}
		seen[r.ID] = true
		if r.Title == "" || r.Ground == "" || r.Remedy == "" || len(r.Text) < 100 {
			t.Errorf("%s lacks something: %+v", r.ID, r)
		}
		for source := range strings.SplitSeq(r.Source, ", ") {
			if u, err := url.Parse(source); (err != nil || u.Scheme != "https" || u.Host == "") && !document.MatchString(source) {
				t.Errorf("%s: the source %q is neither a URL nor a document", r.ID, source)
			}
		}
		for line := range strings.Lines(r.Text) {
			if len(line) > 101 {
				t.Errorf("%s: a line of its text is wider than 100 columns: %s", r.ID, line)
			}
		}
		for name, s := range map[string]string{"ground": r.Ground, "remedy": r.Remedy} {
			if strings.HasSuffix(s, ".") || !strings.HasSuffix(strings.TrimSpace(r.Text), ".") {
				t.Errorf("%s: its text is of sentences, its %s isn't: %q", r.ID, name, s)
			}
		}
		if len(r.Needs) == 0 && !strings.HasPrefix(r.ID, "DATA") && r.ID != "INTREE005" && (!strings.HasPrefix(r.ID, "UPDATE") || r.ID == "UPDATE002") {
			t.Errorf("%s says nothing of what it needs", r.ID)
		}
	}
	if _, ok := skew.Explain("SKEW999"); ok {
		t.Error("SKEW999 was explained")
	}
}
