package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

// TestExplanationsAreOfRules: each entry of the file is a rule's, or a retired one's.
// That every rule has one, TestEveryRuleExplainsItself holds.
func TestExplanationsAreOfRules(t *testing.T) {
	text, err := os.ReadFile("explanations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	entries := regexp.MustCompile(`(?m)^  - id: (\w+)$`).FindAllStringSubmatch(string(text), -1)
	for _, entry := range entries {
		_, rule := skew.Explain(entry[1])
		if _, retired := skew.ExplainRetired(entry[1]); rule == retired {
			t.Errorf("%s: a rule %t, retired %t", entry[1], rule, retired)
		}
	}
	if len(entries) < len(skew.Rules()) {
		t.Errorf("only %d entries were found", len(entries))
	}
}

// A ground is what a project's code, its documents or its releases say. What
// somebody reported or asked to be merged is none.
func TestSourcesArePrimary(t *testing.T) {
	for _, glob := range []string{"*.yaml", "*/*.go", "../../cluster/catalog/data/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", glob, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range reports.FindAllString(proposals.ReplaceAllString(string(text), ""), -1) {
				t.Errorf("%s: %s is no primary source", file, found)
			}
		}
	}
}

var (
	reports = regexp.MustCompile(`\S*/(issues|pull)/\d+\S*`)
	// proposals are named as what they are.
	proposals = regexp.MustCompile(`(?m)^    windowsProposed:\n( {6}.*\n)+`)
)

// Every rule names a state in which it changes what an admin does, no two the same.
// That it does, TestEveryRuleIsShown of test/skew holds.
func TestEveryRuleNamesAState(t *testing.T) {
	of := map[string]string{}
	for _, r := range skew.Rules() {
		cluster, does, _ := strings.Cut(r.State, ": ")
		if cluster == "" || does == "" || r.Shown == "" {
			t.Errorf("%s: no state, or not what an admin does there: %q, shown by %q", r.ID, r.State, r.Shown)
		}
		for _, said := range []string{cluster, does} {
			if other := of[said]; other != "" {
				t.Errorf("%s and %s both say %q", r.ID, other, said)
			}
			of[said] = r.ID
		}
	}
}

// Each case of findings.yaml is one that a rule names. A case that a rule names and that
// isn't there panics, and the rules' own tests say each.
func TestEveryCaseIsNamed(t *testing.T) {
	var code strings.Builder
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	text, err := os.ReadFile("findings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases := regexp.MustCompile(`(?m)^  (\w[^:]*):(?: &\w+)?$`).FindAllStringSubmatch(string(text), -1)
	for _, c := range cases {
		if !strings.Contains(code.String(), `"`+c[1]+`"`) {
			t.Errorf("no rule says %q", c[1])
		}
	}
	if len(cases) < 70 {
		t.Errorf("only %d cases were found", len(cases))
	}
}
