package lint

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint/internal/table"
)

// Rule is one thing that Check looks at.
type Rule = table.Rule

// Rules lists all of them, for the documentation.
func Rules() []Rule { return slices.Clone(table.Rules()) }

// Profiles are what a template can be held to.
func Profiles() []string { return []string{"openshift", "generic"} }

// Options say what a template is held to.
type Options struct {
	// Profile is "openshift" or "generic"; empty takes what bake template
	// wrote into the folder, else openshift.
	Profile string
	// VarFiles are read as packer's -var-file, in this order.
	VarFiles []string
}

// Result is what Check found.
type Result struct {
	Findings []Finding
	// Profile is the one that was held to.
	Profile string
	// Files is how many files were read.
	Files int
	// Sources names the builders: vsphere-iso.windows.
	Sources []string
	// Linux names sources of Linux, beside those of Windows: they aren't judged.
	Linux []string
}

// checker runs the rules over one folder.
type checker struct {
	reporter
	*folder
	profile string
}

// reporter collects findings.
type reporter struct{ findings []finding.Finding }

// add records a finding of a rule. The words that stay the same are the
// rule's.
func (c *reporter) add(id, object string, f finding.Finding) {
	r := table.RuleOf(id)
	f.ID, f.Object = id, object
	if f.Severity == finding.Pass {
		f.Severity = r.Severity
	}
	f.Why, f.Remedy = cmp.Or(f.Why, r.Why), cmp.Or(f.Remedy, r.Remedy)
	c.findings = append(c.findings, f)
}

// pass records that a rule looked and found nothing wrong.
func (c *reporter) pass(id, object, observed string) {
	c.findings = append(c.findings, finding.Finding{ID: id, Severity: finding.Pass, Object: object, Observed: observed})
}

// untold records that a rule couldn't tell.
func (c *reporter) untold(id, object, observed string) {
	c.findings = append(c.findings, finding.Finding{ID: id, Severity: finding.Unknown, Object: object, Observed: observed,
		Why: table.RuleOf(id).Why, Remedy: "give the values of the build with --var-file, or look at it by hand and --accept " + id + "=" + object})
}

// settled are the findings, sorted. What something was found of doesn't pass.
func (c *reporter) settled() []finding.Finding {
	failed := map[string]bool{}
	for _, f := range c.findings {
		failed[f.ID+" "+f.Object] = failed[f.ID+" "+f.Object] || f.Severity > Pass
	}
	all := slices.DeleteFunc(c.findings, func(f Finding) bool { return f.Severity == Pass && failed[f.ID+" "+f.Object] })
	finding.Sort(all)
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return `"` + s + `"`
}

func lineAt(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }
