package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

// TestSkewRules holds the table of docs/skew.md to the rules that there are.
func TestSkewRules(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(top, "docs/skew.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, r := range skew.Rules() {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", r.ID, r.Severity, r.Title)
	}
	if !strings.Contains(string(data), "| rule | at worst | about |\n|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("docs/skew.md's table of rules should be\n%s", want.String())
	}
}
