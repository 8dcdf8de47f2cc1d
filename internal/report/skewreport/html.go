package skewreport

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

//go:embed page.html.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"lower": strings.ToLower, "isURL": isURL, "oneLine": oneLine, "advice": advice, "parts": parts, "capital": capital,
	// A line could end inside "->", and screen readers say "minus greater".
	"arrow": func(s string) string { return strings.ReplaceAll(s, " -> ", " → ") },
}).Parse(pageSource))

// htmlPage is what page.html.tmpl is filled with.
type htmlPage struct {
	*Document
	Title   string
	Style   template.CSS
	Policy  string
	Picture *picture
	Rows    []driverRow
	Notes   []string
	Groups  []htmlGroup
	Todo    []htmlStep
	Read    []string
	// CatalogAge says how old the facts are, as a sentence.
	CatalogAge string
}

// htmlGroup are the findings below one heading.
type htmlGroup struct {
	Heading  string
	Findings []htmlFinding
}

type htmlFinding struct {
	finding.Finding
	Label, Title string
	// Open: what fails or can't be told is read first, the rest on demand.
	Open bool
}

type htmlStep struct {
	When, What, Command, Why, Rules string
}

// encodeHTML writes one page that loads nothing and runs nothing: it is
// attached to change requests and opened from disk.
func encodeHTML(d *Document, _ Options) (string, error) {
	d = d.display()
	p := htmlPage{
		Document: d, Title: "Windows CSI driver skew" + d.route(": "), Style: template.CSS(pageStyle), Policy: policy(),
		Picture: newPicture(d), Rows: d.rows(), Notes: d.certaintyNotes(), Read: d.readLines(), Todo: d.htmlSteps(),
		CatalogAge: capital(d.catalogLine()) + ".",
	}
	for _, f := range d.Findings {
		if last := len(p.Groups) - 1; last < 0 || p.Groups[last].Heading != groupOf(f) {
			p.Groups = append(p.Groups, htmlGroup{Heading: groupOf(f)})
		}
		last := &p.Groups[len(p.Groups)-1]
		last.Findings = append(last.Findings, htmlFinding{f, firstOf(f.Accepted, f.Severity.String()), d.title(f.ID), f.Severity >= finding.Warn})
	}
	var b strings.Builder
	if err := page.Execute(&b, p); err != nil {
		return "", fmt.Errorf("encode HTML: %w", err)
	}
	return b.String(), nil
}

// policy lets nothing in but the page's own style sheet.
func policy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

func (d *Document) htmlSteps() []htmlStep {
	var all []htmlStep
	for _, s := range d.todos() {
		all = append(all, htmlStep{When: capital(d.due(s)), What: s.What, Command: strings.Join(s.Commands(), "\n"), Why: s.Why, Rules: strings.Join(s.Rules, ", ")})
	}
	return all
}
