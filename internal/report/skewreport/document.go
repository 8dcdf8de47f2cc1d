package skewreport

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/skew"
)

// APIVersion is raised when a field of the JSON report changes its meaning or
// goes; fields may be added without.
const APIVersion = "winbake.dev/skew/v1"

// Document is the JSON report, and what all other formats are made from.
type Document struct {
	// APIVersion is winbake.dev/skew/v1. It is raised when a field changes its
	// meaning or goes; fields may be added without.
	APIVersion string `json:"apiVersion" jsonschema:"enum=winbake.dev/skew/v1"`
	// Kind is SkewReport.
	Kind string `json:"kind" jsonschema:"enum=SkewReport"`
	// Tool says who judged.
	Tool ToolInfo `json:"tool"`
	// Cluster is the one that was read.
	Cluster ClusterInfo `json:"cluster"`
	// Date is the day of the check, "2026-11-21"; empty where it wasn't told.
	Date string `json:"date,omitempty"`
	// Catalog is the data that was judged by.
	Catalog CatalogAge `json:"catalog"`
	// Verdict is BLOCK, UNKNOWN, WARN or PASS: the severity of the worst
	// finding, with PASS for INFO.
	Verdict finding.Severity `json:"verdict"`
	// Summary is the verdict in one sentence, for people.
	Summary string `json:"summary"`
	// FailOn is the least severity that fails the command.
	FailOn string `json:"failOn" jsonschema:"enum=block,enum=unknown,enum=warn"`
	// ExitCode is what the command exits with: 0 fine, 2 WARN under
	// --fail-on=warn, 3 BLOCK, 4 UNKNOWN.
	ExitCode int `json:"exitCode" jsonschema:"enum=0,enum=2,enum=3,enum=4"`
	// Counts is how many findings there are of each severity; all five are
	// always there.
	Counts map[string]int `json:"counts"`
	skew.Result
	// Sources are the inputs that were read.
	Sources []inventory.Source `json:"sources"`
	// Coverage says of each resource how much of it was read.
	Coverage map[string]inventory.Coverage `json:"coverage"`
	// Problems are inputs that couldn't be read.
	Problems []inventory.Problem `json:"problems,omitempty"`
	// Rules are what is known of the rules that the report speaks of.
	Rules []RuleInfo `json:"rules"`
	// Inventory is all that was read, with --details; its fields may change.
	Inventory any `json:"inventory,omitempty"`
}

// RuleInfo describes a rule that the report speaks of.
type RuleInfo struct {
	// ID is frozen: --accept and dashboards hold it.
	ID string `json:"id"`
	// Title is what the rule is about, in a few words.
	Title string `json:"title,omitempty"`
	// Ground is why it is a rule, in a sentence.
	Ground string `json:"ground,omitempty"`
	// Source is where the ground is written.
	Source string `json:"source,omitempty"`
}

// ToolInfo says who judged.
type ToolInfo struct {
	// Name is the command's.
	Name string `json:"name,omitempty"`
	// Version is the command's.
	Version string `json:"version,omitempty"`
	// CommandLine is the command as it was given.
	CommandLine string `json:"command,omitempty"`
}

// ClusterInfo names a cluster.
type ClusterInfo struct {
	// ID is ClusterVersion's spec.clusterID; absent where that wasn't read.
	ID string `json:"id,omitempty"`
	// Context is the kubeconfig's; absent where files were read.
	Context string `json:"context,omitempty"`
}

// CatalogAge says how old the facts are that were judged by.
type CatalogAge struct {
	// AsOf is the day that the facts were looked at, "2026-08-31".
	AsOf string `json:"asOf,omitempty"`
	// AgeDays is how many days before Date that was; absent where either isn't
	// known.
	AgeDays *int `json:"ageDays,omitempty"`
}

// ruleIDs are those of all rules that the report speaks of, sorted.
func (d *Document) ruleIDs() []string {
	ids := slices.Clone(d.Evaluated)
	for _, f := range d.Findings {
		ids = append(ids, f.ID)
	}
	for _, n := range d.NotEvaluated {
		ids = append(ids, n.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// title is what a rule is about; "" where it isn't known.
func (d *Document) title(id string) string {
	if i := d.ruleIndex(id); i >= 0 {
		return d.Rules[i].Title
	}
	return ""
}

func (d *Document) ruleIndex(id string) int {
	return slices.IndexFunc(d.Rules, func(r RuleInfo) bool { return r.ID == id })
}

// takeResult copies the lists of r, which are sorted and never null here.
func (d *Document) takeResult(r skew.Result) {
	d.Result = r
	d.Drivers = append([]skew.Row{}, r.Drivers...)
	d.Findings = append([]finding.Finding{}, r.Findings...)
	d.Evaluated = append([]string{}, r.Evaluated...)
	d.NotEvaluated = slices.Clone(r.NotEvaluated)
	d.Steps = append([]skew.Step{}, r.Steps...)
	slices.SortStableFunc(d.Drivers, func(a, b skew.Row) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Hop, b.Hop))
	})
	d.sortFindings()
	slices.Sort(d.Evaluated)
	slices.SortStableFunc(d.NotEvaluated, func(a, b skew.NotEvaluated) int { return cmp.Compare(a.Rule, b.Rule) })
	slices.SortStableFunc(d.Steps, func(a, b skew.Step) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(whenOrder(a.When), whenOrder(b.When)))
	})
}

// sortFindings puts the worst first, and findings alike in the order in which
// an update meets them. finding.Sort would put 4.10 before 4.9.
func (d *Document) sortFindings() {
	lowered := func(f finding.Finding) int { return min(len(f.Accepted), 1) }
	slices.SortStableFunc(d.Findings, func(a, b finding.Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(lowered(b), lowered(a)),
			cmp.Compare(d.hopIndex(a.Hop), d.hopIndex(b.Hop)),
			cmp.Compare(phaseOrder(a.Phase), phaseOrder(b.Phase)),
			cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Observed, b.Observed),
		)
	})
}

// days is how many days to is after from; nil where one of them is no day.
func days(from, to string) *int {
	a, errA := time.Parse(time.DateOnly, from)
	b, errB := time.Parse(time.DateOnly, to)
	if errA != nil || errB != nil {
		return nil
	}
	n := int(b.Sub(a).Hours() / 24)
	return &n
}

// multiline are the fields whose line ends mean something. A line end in any
// other field is somebody's attempt to write lines of ours.
var multiline = []string{"Observed", "Expected", "Why", "Remedy", "Command", "Text", "Commands", "Wait", "Done", "Undo", "Final"}

// display returns a copy of d in which no string does anything but be read.
func (d *Document) display() *Document {
	return report.MapStrings(d, func(field, s string) string {
		if !slices.Contains(multiline, field) {
			return printable.Line(s)
		}
		return strings.Join(report.CleanLines(s), "\n")
	})
}
