package skewreport

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
)

//go:embed page.html.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"lower": strings.ToLower, "isURL": isURL, "oneLine": oneLine, "advice": advice, "parts": parts, "capital": capital,
	// A line could end inside "->", and screen readers say "minus greater".
	"arrow": func(s string) string { return strings.ReplaceAll(s, " -> ", " → ") },
}).Parse(pageSource))

type htmlPage struct {
	page
	Title   string
	Style   template.CSS
	Policy  string
	Picture *picture
	Todo    []htmlStep
	// CatalogAge says how old the facts are, as a sentence.
	CatalogAge string
}

type htmlStep struct {
	When, What, Command, Why, Rules string
}

// encodeHTML writes one page that loads nothing and runs nothing: it is
// attached to change requests and opened from disk.
func encodeHTML(d *Document, _ Options) (string, error) {
	p := newPage(d)
	d = p.Document
	var b strings.Builder
	if err := pageTemplate.Execute(&b, htmlPage{
		page: p, Title: "Windows CSI driver skew" + p.Route, Style: template.CSS(pageStyle), Policy: policy(),
		Picture: newPicture(d), Todo: d.htmlSteps(), CatalogAge: capital(d.catalogLine()) + ".",
	}); err != nil {
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
