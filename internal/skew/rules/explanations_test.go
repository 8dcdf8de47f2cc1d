package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

// TestFilesAreOfRules: a rule is a Go file and one of the same name with its texts. That
// every rule explains itself, TestEveryRuleExplainsItself holds.
func TestFilesAreOfRules(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil || len(files) != len(skew.Rules()) {
		t.Errorf("%d files for %d rules: %v", len(files), len(skew.Rules()), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if _, is := skew.Explain(strings.ToUpper(name)); !is {
			t.Errorf("%s is no rule's", file)
		}
		if _, err := os.Stat(strings.TrimSuffix(file, ".yaml") + ".go"); err != nil {
			t.Error(err)
		}
	}
}

// A ground is what a project's code, its documents or its releases say. What
// somebody reported or asked to be merged is none.
func TestSourcesArePrimary(t *testing.T) {
	for _, glob := range []string{"*/*.yaml", "*/*.go", "../../cluster/catalog/data/*.yaml"} {
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

// Each case of a rule's file is one that a rule of its family names. A case that a rule
// names and that isn't there panics, and the rules' own tests say each.
func TestEveryCaseIsNamed(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, file := range files {
		texts, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := goFiles(t, filepath.Dir(file))
		_, findings, _ := strings.Cut(string(texts), "\nfindings:\n")
		for _, c := range regexp.MustCompile(`(?m)^  (\w[^:]*):(?: &\w+)?$`).FindAllStringSubmatch(findings, -1) {
			cases++
			if !strings.Contains(code, `"`+c[1]+`"`) {
				t.Errorf("%s: no rule says %q", file, c[1])
			}
		}
	}
	if cases != 147 {
		t.Errorf("%d cases were found", cases)
	}
}

func goFiles(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	return code.String()
}
