package skewreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/skew"
)

// Explain writes what rules compare, why, and what they need, for people.
func Explain(w io.Writer, rules ...skew.Rule) error {
	var b strings.Builder
	for i, r := range rules {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s (at worst %s)\n\n%s\n", r.ID, r.Title, r.Severity, strings.TrimSpace(r.Text))
		fmt.Fprintf(&b, "\nGround: %s.\nSource: %s\n", strings.TrimSuffix(r.Ground, "."), r.Source)
		if r.Remedy != "" {
			fmt.Fprintf(&b, "Remedy: %s.\n", r.Remedy)
		}
		if r.State != "" {
			fmt.Fprintf(&b, "State:  %s.\n", r.State)
		}
		if len(r.Needs) > 0 {
			needs := make([]string, len(r.Needs))
			for i, n := range r.Needs {
				needs[i] = string(n)
			}
			fmt.Fprintf(&b, "Needs:  %s\n", strings.Join(needs, ", "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ExplainRetired writes why there is no such rule any more.
func ExplainRetired(w io.Writer, r skew.Retired) error {
	_, err := fmt.Fprintf(w, "%s: %s (retired)\n\n%s\n", r.ID, r.Title, r.Why)
	return err
}
