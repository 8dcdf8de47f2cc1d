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
	// Explain tells of rules; nil is skew.Explain.
	Explain func(id string) (skew.Rule, bool)
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

// newDocument copies r into its final order. Strings are still as they came.
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
	if r.Inventory != nil {
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
	return d
}
