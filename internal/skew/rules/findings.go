package rules

import (
	"cmp"
	_ "embed"
	"maps"
	"strings"
	"sync"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

//go:embed findings.yaml
var findingsFile []byte

// Facts are what a text of findings.yaml names, beside snap and the driver's v.
type Facts map[string]any

// written is findings.yaml: what rules say, by rule and case.
var written = sync.OnceValue(func() (rules map[string]map[string]Finding) {
	if err := yaml.Unmarshal(findingsFile, &rules); err != nil {
		panic(err) // part of the program
	}
	return rules
})

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

// texts are the fields that findings.yaml has templates for.
func (d *Finding) texts() []*string {
	return []*string{&d.Object, &d.Observed, &d.Expected, &d.Why, &d.Remedy}
}

// fill gives a finding what findings.yaml has for its case, where the rule left it out.
func (d *Finding) fill(rule string, snap *snapshot.Snapshot, v *snapshot.View) {
	if d.Case == "" {
		return
	}
	known, is := written()[rule][d.Case]
	if !is {
		panic(rule + " has no case " + d.Case) // tests report each
	}
	facts := Facts{"snap": snap, "v": v}
	maps.Copy(facts, d.Facts)
	for i, text := range known.texts() {
		if own := d.texts()[i]; *own == "" && *text != "" {
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
