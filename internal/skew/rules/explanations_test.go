package rules_test

import (
	"os"
	"regexp"
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
