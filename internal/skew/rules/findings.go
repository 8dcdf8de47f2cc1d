package rules

import (
	"cmp"
	_ "embed"
	"maps"
	"strings"
	"sync"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

//go:embed findings.yaml
var findingsFile []byte

// Facts are what a text of findings.yaml names, beside snap and the driver's v.
type Facts map[string]any

// findingsOf is findings.yaml: what rules say, by rule and case. A template is
// named by its own text.
type findingsOf struct {
	rules     map[string]map[string]Finding
	templates *template.Template
}

var written = sync.OnceValue(func() *findingsOf {
	w := &findingsOf{templates: template.New("").Delims("[[", "]]").Option("missingkey=error").Funcs(template.FuncMap{
		"names": func(nodes []*inventory.Node) string { return SomeOf(snapshot.NodeNames(nodes)) },
		"some":  SomeOf, "many": inventory.Many, "join": strings.Join, "or": cmp.Or[string],
	})}
	if err := yaml.Unmarshal(findingsFile, &w.rules); err != nil {
		panic(err) // part of the program
	}
	for _, cases := range w.rules {
		for _, f := range cases {
			for _, text := range f.texts() {
				template.Must(w.templates.New(*text).Parse(*text))
			}
		}
	}
	return w
})

// texts are the fields that findings.yaml has templates for.
func (d *Finding) texts() []*string {
	return []*string{&d.Object, &d.Observed, &d.Expected, &d.Why, &d.Remedy}
}

// fill gives a finding what findings.yaml has for its case, where the rule left it out.
func (d *Finding) fill(rule string, snap *snapshot.Snapshot, v *snapshot.View) {
	if d.Case == "" {
		return
	}
	w := written()
	known, is := w.rules[rule][d.Case]
	if !is {
		panic(rule + " has no case " + d.Case) // tests report each
	}
	facts := Facts{"snap": snap, "v": v}
	maps.Copy(facts, d.Facts)
	for i, text := range known.texts() {
		if own := d.texts()[i]; *own == "" && *text != "" {
			*own = w.write(*text, facts)
		}
	}
	d.Severity, d.When, d.Source, d.Same = cmp.Or(d.Severity, known.Severity), cmp.Or(d.When, known.When), cmp.Or(d.Source, known.Source), cmp.Or(d.Same, known.Same)
	d.NoStep, d.PlanInfo, d.Late, d.Later = d.NoStep || known.NoStep, d.PlanInfo || known.PlanInfo, d.Late || known.Late, d.Later || known.Later
}

func (w *findingsOf) write(text string, facts Facts) string {
	if !strings.Contains(text, "[[") {
		return text
	}
	var b strings.Builder
	if err := w.templates.ExecuteTemplate(&b, text, facts); err != nil {
		panic(err) // tests write each
	}
	return b.String()
}
