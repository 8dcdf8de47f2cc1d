package skewreport

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/report"
)

// ClustersKind is the kind of the JSON document on several clusters.
const ClustersKind = "SkewReportList"

// Cluster is one of several clusters: the answer, or why there is none.
type Cluster struct {
	// Context is the kubeconfig's.
	Context string
	Report  Report
	Err     error
}

// ClusterItem is a cluster as JSON has it, and a row of the table.
type ClusterItem struct {
	Context string           `json:"context"`
	Verdict finding.Severity `json:"verdict"`
	// Error says why the cluster couldn't be judged; its verdict is UNKNOWN.
	Error  string    `json:"error,omitempty"`
	Report *Document `json:"report,omitempty"`
	// Text is the report for people, on demand.
	Text string `json:"-"`
}

// Release is what the cluster runs, as far as it's known.
func (c ClusterItem) Release() string {
	if c.Report == nil {
		return ""
	}
	return c.Report.From
}

// Says is the cluster's answer in a sentence.
func (c ClusterItem) Says() string {
	if c.Report == nil {
		return fault.OneLine(c.Error)
	}
	return c.Report.Summary
}

// ClusterFormats are the formats of a report on several clusters.
var ClusterFormats = []string{"text", "json", "html"}

// WriteClusters writes one report on several clusters, in one of
// ClusterFormats: a line for each, and in JSON and HTML all of each. For people the
// worst come first, of a hundred the few to look at.
func WriteClusters(w io.Writer, format string, all []Cluster, o Options) error {
	items := make([]ClusterItem, 0, len(all))
	for _, c := range all {
		item := ClusterItem{Context: c.Context, Verdict: finding.Unknown}
		if c.Err != nil {
			item.Error = c.Err.Error()
		} else {
			item.Report = newDocument(c.Report)
			item.Verdict = item.Report.Verdict
		}
		items = append(items, item)
	}
	if format != "json" {
		slices.SortStableFunc(items, func(a, b ClusterItem) int { return cmp.Compare(b.Verdict, a.Verdict) })
	}
	var out string
	var err error
	switch format {
	case "text":
		out = clustersText(items)
	case "json":
		out, err = report.EncodeJSON(map[string]any{"apiVersion": APIVersion, "kind": ClustersKind, "items": items})
	case "html":
		out, err = clustersHTML(items, o)
	}
	if err == nil {
		_, err = io.WriteString(w, out)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func clustersText(items []ClusterItem) string {
	var b strings.Builder
	rows := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(rows, "CONTEXT\tRELEASE\tVERDICT\tWHAT")
	for _, c := range items {
		line := printable.Line
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\n", line(c.Context), cmp.Or(line(c.Release()), "-"), c.Verdict, line(c.Says()))
	}
	_ = rows.Flush() // a Builder takes all
	fmt.Fprintf(&b, "%s\nmore of one: verify skew --context NAME, with the other flags\n", countsOf(items))
	return b.String()
}

func countsOf(items []ClusterItem) string {
	var parts []string
	for s := finding.Block; s >= finding.Pass; s-- {
		n := 0
		for _, c := range items {
			if c.Verdict == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return inventory.Many(len(items), "cluster") + ": " + strings.Join(parts, ", ")
}

//go:embed clusters.html.tmpl
var clustersSource string

var clustersPage = template.Must(template.New("clusters").Funcs(template.FuncMap{"lower": strings.ToLower}).Parse(clustersSource))

// clustersHTML is one page: a row for each cluster, and its report on demand.
func clustersHTML(items []ClusterItem, o Options) (string, error) {
	for i := range items {
		if c := &items[i]; c.Report != nil {
			text, err := encodeText(c.Report, Options{Details: true, Verbose: o.Verbose})
			if err != nil {
				return "", err
			}
			c.Text = text
		}
	}
	var b strings.Builder
	err := clustersPage.Execute(&b, map[string]any{"Items": items, "Counts": countsOf(items), "Style": template.CSS(pageStyle), "Policy": policy()})
	if err != nil {
		return "", fmt.Errorf("encode HTML: %w", err)
	}
	return b.String(), nil
}
