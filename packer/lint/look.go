package lint

import (
	"cmp"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
)

// Rule is one thing that Check looks at. Each is in a file of its own.
type Rule struct {
	ID       string
	Severity finding.Severity // at worst, but for UNKNOWN
	Title    string
	// Why and Remedy are said of a finding that has none of its own.
	Why, Remedy string

	folder func(*look)         // looks at the template as a whole
	source func(*look, *block) // looks at each machine of Windows
}

// look is one rule's, and its findings.
type look struct {
	*template
	rule     Rule
	findings []finding.Finding
}

// add records a finding. The words that it hasn't are the rule's.
func (l *look) add(object string, f finding.Finding) {
	f.ID, f.Object = l.rule.ID, object
	if f.Severity == finding.Pass {
		f.Severity = l.rule.Severity
	}
	f.Why, f.Remedy = cmp.Or(f.Why, l.rule.Why), cmp.Or(f.Remedy, l.rule.Remedy)
	l.findings = append(l.findings, f)
}

// unknown records that the rule couldn't tell.
func (l *look) unknown(object, observed string, evidence []string) {
	l.add(object, finding.Finding{Severity: finding.Unknown, Observed: observed, Evidence: evidence,
		Remedy: "give the values of the build with --var-file, or look at it by hand and --accept " + l.rule.ID + "=" + object})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
