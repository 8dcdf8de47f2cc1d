// Package skewreport writes the answer of `verify skew` for people and
// machines: text, JSON, Markdown and HTML, and the plan of what
// to do as Markdown.
//
// It judges nothing: verdict, severities and steps are package skew's. It
// trusts no string either: names, versions and log lines come from clusters
// and files that nobody vouches for, and each format makes them harmless in
// its own way.
package skewreport

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/skew"
)

// Report is an answer and what it was made from.
type Report struct {
	Result *skew.Result
	// Inventory is what was read; nil leaves that part of the report out.
	Inventory *inventory.Inventory
	// CatalogAsOf and Today are days, 2026-08-31; "" where they aren't known.
	CatalogAsOf, Today string
	// Tool and Version say who judged: "verify", "v1.2.0".
	Tool, Version string
	// FailOn decides the exit code that the report tells; its zero value is
	// finding.DefaultFailOn.
	FailOn finding.FailOn
	// Command is the command line as it was given; "" leaves it out.
	Command string
	// Target is how commands reach the cluster, and judge it as it was judged here.
	Target Target
	// Explain tells of rules; nil is skew.Explain.
	Explain func(id string) (skew.Rule, bool)
}

// Target is the cluster that commands are for.
type Target struct {
	// Context is the kubeconfig's; "" where files were read.
	Context string
	// Kubeconfig is as it was given; "" for the usual one.
	Kubeconfig string
	// Flags are the flags of oc that were given: --kubeconfig F --context C.
	Flags []string
	// Kubectl: the cluster isn't OpenShift, and oc isn't there.
	Kubectl bool
	// Judging are flags of verify skew that were given and change an answer: --accept.
	Judging []string
}

// words are what commands begin with instead, see shell.Replace.
func (t Target) words() map[string]string {
	words := map[string]string{}
	oc := "oc"
	if t.Kubectl {
		oc = "kubectl"
	}
	if len(t.Flags) > 0 || t.Kubectl {
		words["oc"] = strings.TrimSpace(oc + " " + shell.Words(t.Flags))
	}
	if again := slices.Concat(t.Flags, t.Judging); len(again) > 0 {
		words["verify skew"] = "verify skew " + shell.Words(again)
	}
	return words
}

// called writes the words that commands begin with.
func (d *Document) called(words map[string]string) *Document {
	if len(words) == 0 {
		return d
	}
	return report.MapStrings(d, func(field, s string) string {
		if slices.Contains([]string{"Command", "Commands", "Wait", "Done", "Undo", "Final", "Fix"}, field) {
			return shell.Replace(s, words)
		}
		return s
	})
}

var writers = map[string]func(*Document, Options) (string, error){
	"text":     encodeText,
	"json":     encodeJSON,
	"markdown": encodeMarkdown,
	"html":     encodeHTML,
}

// Formats are the values of -o, the one for people first.
var Formats = []string{"text", "json", "markdown", "html"}

// Write writes r in one of Formats; another format is a fault. The order of
// the findings doesn't matter: reports are always worst first.
func Write(w io.Writer, format string, r Report, o Options) error {
	encode, ok := writers[format]
	if !ok {
		return &fault.Error{
			What: fmt.Sprintf("unknown output format %q", format),
			Fix:  "-o " + strings.Join(Formats, ", -o "),
		}
	}
	return write(w, r, func(d *Document) (string, error) {
		if format == "json" && o.Details {
			d.Inventory = r.Inventory
		}
		return encode(d, o)
	})
}

// Plan writes what to do, in order, as Markdown for a change request.
func Plan(w io.Writer, r Report) error {
	return write(w, r, func(d *Document) (string, error) { return fill("plan", d) })
}

// PlanHTML is Plan as a page.
func PlanHTML(w io.Writer, r Report) error { return write(w, r, encodePlanHTML) }

// PlanJSON is a plan for programs.
type PlanJSON struct {
	// Cluster is the one that it is for, From and To its releases; To is absent for what
	// is to be done now.
	Cluster ClusterInfo `json:"cluster"`
	From    string      `json:"from"`
	To      string      `json:"to,omitempty"`
	Steps   []skew.Step `json:"steps"`
}

// PlanOf is what Plan writes, for programs.
func PlanOf(r Report) PlanJSON {
	d := newDocument(r)
	return PlanJSON{d.Cluster, d.From, d.To, d.Steps}
}

func write(w io.Writer, r Report, encode func(*Document) (string, error)) error {
	out, err := encode(newDocument(r))
	if err == nil {
		_, err = io.WriteString(w, out)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func encodeJSON(d *Document, _ Options) (string, error) {
	return report.EncodeJSON(d)
}

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

// newDocument copies r into its final order. Strings are still as they came, but for what
// commands begin with.
func newDocument(r Report) *Document {
	r.FailOn = cmp.Or(r.FailOn, finding.DefaultFailOn)
	d := &Document{
		APIVersion: APIVersion, Kind: "SkewReport",
		Tool: ToolInfo{Name: r.Tool, Version: r.Version, CommandLine: r.Command},
		Date: r.Today, Catalog: CatalogAge{AsOf: r.CatalogAsOf, AgeDays: days(r.CatalogAsOf, r.Today)},
		FailOn: r.FailOn.String(), Counts: map[string]int{},
		Sources: []inventory.Source{}, Rules: []RuleInfo{}, Coverage: map[string]inventory.Coverage{},
	}
	d.takeResult(*cmp.Or(r.Result, &skew.Result{}))
	d.Cluster.Context = r.Target.Context
	if r.Inventory != nil {
		d.Cluster.ID = r.Inventory.Cluster.ID
		d.Sources = append(d.Sources, r.Inventory.Sources...)
		for resource, c := range r.Inventory.Read {
			d.Coverage[string(resource)] = c
		}
		d.Problems = slices.Clone(r.Inventory.Problems)
	}
	for s := finding.Pass; s <= finding.Block; s++ {
		d.Counts[s.String()] = finding.Count(d.Findings, s)
	}
	if d.Verdict = finding.Worst(d.Findings); d.Verdict == finding.Info {
		d.Verdict = finding.Pass // a verdict says what to do, and INFO is nothing to do
	}
	d.ExitCode = r.FailOn.ExitCode(d.Findings)
	d.Summary = summary(d)
	explain := r.Explain
	if explain == nil {
		explain = skew.Explain
	}
	for _, id := range d.ruleIDs() {
		rule, _ := explain(id) // one that isn't known has an ID alone
		d.Rules = append(d.Rules, RuleInfo{ID: id, Title: rule.Title, Ground: rule.Ground, Source: rule.Source})
	}
	return d.called(r.Target.words())
}
