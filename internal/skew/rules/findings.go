package rules

import (
	"cmp"
	_ "embed" // a template
	"maps"
	"strings"
	"sync"
	"text/template"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var functions = template.FuncMap{
	"names": func(nodes []*inventory.Node) string { return SomeOf(snapshot.NodeNames(nodes)) },
	"some":  SomeOf, "many": inventory.Many, "join": strings.Join, "or": cmp.Or[string],
}

var templates sync.Map // by their text

// templateOf parses a text when it is first written: of some hundred a report has few.
func templateOf(text string) *template.Template {
	t, known := templates.Load(text)
	if !known {
		t, _ = templates.LoadOrStore(text, template.Must(template.New("").Delims("[[", "]]").Option("missingkey=error").Funcs(functions).Parse(text)))
	}
	return t.(*template.Template)
}

// templates are the fields that a rule's file has templates for.
func (d *Finding) templates() []*string {
	return []*string{&d.Object, &d.Observed, &d.Expected, &d.Why, &d.Remedy}
}

// fill gives a finding what its rule's file has for its case, where the rule left it out.
func (d *Finding) fill(r *Rule, snap *snapshot.Snapshot, v *snapshot.View) {
	if d.Case == "" {
		return
	}
	from := r.file
	if r.Like != nil {
		from = r.Like.file
	}
	known, is := textsOf(from).Findings[d.Case]
	if !is {
		panic(r.ID + " has no case " + d.Case) // tests report each
	}
	facts := Facts{"snap": snap, "v": v}
	maps.Copy(facts, d.Facts)
	for i, text := range known.templates() {
		if own := d.templates()[i]; *own == "" && *text != "" {
			*own = write(*text, facts)
		}
	}
	d.Severity, d.When, d.Source, d.Same = cmp.Or(d.Severity, known.Severity), cmp.Or(d.When, known.When), cmp.Or(d.Source, known.Source), cmp.Or(d.Same, known.Same)
	d.NoStep, d.PlanInfo, d.Late, d.Later = d.NoStep || known.NoStep, d.PlanInfo || known.PlanInfo, d.Late || known.Late, d.Later || known.Later
}

func write(text string, facts Facts) string {
	if !strings.Contains(text, "[[") {
		return text
	}
	var b strings.Builder
	if err := templateOf(text).Execute(&b, facts); err != nil {
		panic(err) // tests write each
	}
	return b.String()
}
