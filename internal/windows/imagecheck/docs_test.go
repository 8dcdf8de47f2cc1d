package imagecheck

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestDocs: docs/golden-image.md lists the rows, in the table's order.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/golden-image.md")
	if err != nil {
		t.Fatal(err)
	}
	word := func(s finding.Severity) string {
		if s == finding.Pass {
			return "-"
		}
		return s.String()
	}
	var want strings.Builder
	for _, r := range Table {
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s: %s |\n", r.ID, word(r.OpenShift), word(r.Generic), r.Object, r.Expected)
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("docs/golden-image.md hasn't these lines:\n%s", &want)
	}
}
