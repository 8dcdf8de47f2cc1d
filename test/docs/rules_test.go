package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

var update = flag.Bool("update", false, "rewrite the tables in the documents")

const tableHead = "| rule | at worst | about |\n|---|---|---|\n"

// TestSkewRules holds the table of docs/reference.md to the rules that there are.
func TestSkewRules(t *testing.T) {
	path := filepath.Join(top, "docs/reference.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, r := range skew.Rules() {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", r.ID, r.Severity, r.Title)
	}
	before, rest, ok := strings.Cut(string(data), tableHead)
	_, after, ok2 := strings.Cut(rest, "\n\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no table of rules", path)
	}
	wanted := before + tableHead + want.String() + "\n" + after
	if *update {
		if err := os.WriteFile(path, []byte(wanted), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if wanted != string(data) {
		t.Errorf("docs/reference.md is behind the rules: go test ./test/docs -run SkewRules -update")
	}
}
