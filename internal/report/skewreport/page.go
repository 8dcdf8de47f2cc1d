package skewreport

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/skew"
)

// page is what the templates of HTML and Markdown are filled with.
type page struct {
	*Document
	// Route names the releases, after a colon.
	Route  string
	Rows   []driverRow
	Notes  []string
	Groups []group
	Read   []string
	Todo   []skew.Step
}

type group struct {
	Heading  string
	Findings []shown
}

type shown struct {
	finding.Finding
	Label, Title string
	// Open: what fails or can't be told is read first, the rest on demand.
	Open bool
}

func newPage(d *Document) page {
	d = d.display()
	p := page{Document: d, Route: d.route(), Rows: d.rows(), Notes: d.certaintyNotes(), Read: d.readLines(), Todo: d.todos()}
	for _, f := range d.Findings {
		if last := len(p.Groups) - 1; last < 0 || p.Groups[last].Heading != groupOf(f) {
			p.Groups = append(p.Groups, group{Heading: groupOf(f)})
		}
		last := &p.Groups[len(p.Groups)-1]
		last.Findings = append(last.Findings, shown{f, cmp.Or(f.Accepted, f.Severity.String()), d.title(f.ID), f.Severity >= finding.Warn})
	}
	return p
}

// part of the plan: a hop with its steps, by when they are due.
type hopPart struct {
	Hop   string // "" where there is none to name
	Times []timePart
}

type timePart struct {
	Heading string
	Steps   []numbered
}

type numbered struct {
	N int
	skew.Step
}

// Parts has one for each hop, also for those with nothing to do: a gap would read like
// an oversight. It is empty where nothing has to be done.
func (p page) Parts() []hopPart {
	if len(p.Todo) == 0 {
		return nil
	}
	parts := make([]hopPart, max(len(p.Hops), 1))
	for i := range p.Hops {
		parts[i].Hop = fmt.Sprintf("Hop %d of %d: %s", i+1, len(p.Hops), p.hopOf(i))
	}
	n := 0
	for i := range parts {
		when := ""
		for _, s := range p.Todo {
			// A step whose hop isn't on the way is at the nearest.
			if min(max(s.Hop, 0), len(parts)-1) != i {
				continue
			}
			if len(parts[i].Times) == 0 || s.When != when {
				when = s.When
				parts[i].Times = append(parts[i].Times, timePart{Heading: capital(cmp.Or(due(when, ""), "at any time"))})
			}
			n++
			last := &parts[i].Times[len(parts[i].Times)-1]
			last.Steps = append(last.Steps, numbered{n, s})
		}
	}
	return parts
}

// way is an action's way back, or why there is none.
type way struct {
	N                     int
	Kind, Summary, NoUndo string
	Undo                  string
}

// Rollback is the way back, last step first. The numbers are those that the steps have.
func (p page) Rollback() []way {
	var ways []way
	for i, s := range slices.Backward(p.Todo) {
		for _, a := range slices.Backward(s.Actions) {
			if len(a.Undo) > 0 || a.NoUndo != "" {
				ways = append(ways, way{i + 1, a.Kind, a.Summary, a.NoUndo, strings.Join(a.Undo, "\n")})
			}
		}
	}
	return ways
}

//go:embed page.html.tmpl
var pageSource string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"lower": strings.ToLower, "isURL": isURL, "oneLine": printable.OneLine, "advice": advice, "parts": parts, "capital": capital, "due": (*Document).due,
	"join":  func(list []string) string { return strings.Join(list, ", ") },
	"lines": func(list []string) string { return strings.Join(list, "\n") },
	// A line could end inside "->", and screen readers say "minus greater".
	"arrow": func(s string) string { return strings.ReplaceAll(s, " -> ", " → ") },
}).Parse(pageSource))

// pageHead is what each page begins with.
type pageHead struct {
	Title  string
	Style  template.CSS
	Policy string
}

func headOf(title string) pageHead {
	return pageHead{title, template.CSS(pageStyle), policy()}
}

type htmlPage struct {
	page
	Head    pageHead
	Heading string
	// CatalogAge says how old the facts are, as a sentence.
	CatalogAge string
}

// encodeHTML writes one page that loads nothing and runs nothing: it is
// attached to change requests and opened from disk.
func encodeHTML(d *Document, _ Options) (string, error) {
	p := newPage(d)
	var b strings.Builder
	heading := "Windows CSI driver skew" + p.Route
	if err := pageTemplate.Execute(&b, htmlPage{
		page: p, Head: headOf(p.Verdict.String() + ": " + heading), Heading: heading,
		CatalogAge: capital(p.catalogLine()) + ".",
	}); err != nil {
		return "", fmt.Errorf("encode HTML: %w", err)
	}
	return b.String(), nil
}

// encodePlanHTML renders the plan's Markdown, in which no raw HTML is: goldmark leaves any
// out.
func encodePlanHTML(d *Document) (string, error) {
	text, err := fill("plan", d)
	if err != nil {
		return "", err
	}
	var body, b strings.Builder
	err = goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList)).Convert([]byte(text), &body)
	if err == nil {
		err = pageTemplate.ExecuteTemplate(&b, "plan", struct {
			Head pageHead
			Body template.HTML
		}{headOf(d.display().planTitle()), template.HTML(body.String())}) //nolint:gosec // goldmark's, of escaped Markdown
	}
	if err != nil {
		return "", fmt.Errorf("encode HTML: %w", err)
	}
	return b.String(), nil
}

// policy lets nothing in but the page's own style sheet.
func policy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != ""
}
