package autoescape_test

import (
	"strings"
	"testing"
	"text/template"

	"github.com/winbake/winbake/internal/base/autoescape"
)

// Every value is escaped, once, wherever it is written; the text isn't.
func TestWith(t *testing.T) {
	funcs := template.FuncMap{"quoted": func(s string) string { return "<" + s + ">" }, "lower": strings.ToLower}
	for text, want := range map[string]string{
		"a {{.A}} b":                                "a <X> b",
		"{{.A | lower}}{{lower .A}}":                "<x><x>",
		"{{if .A}}{{.A}}{{else}}{{.B}}{{end}}":      "<X>",
		"{{with .None}}{{.}}{{else}}{{.B}}{{end}}":  "<Y>",
		"{{range .List}}{{.}},{{else}}none{{end}}":  "<1>,<2>,",
		"{{$x := .A}}{{$x}}{{- /* a comment */ -}}": "<X>",
		"{{.A}}{{template `called` .B}}":            "<X>Y",
	} {
		set := template.New("").Funcs(funcs)
		template.Must(set.New("called").Parse("{{.}}"))
		var b strings.Builder
		main := autoescape.With(template.Must(set.New("main").Parse(text)), "quoted")
		if err := main.Execute(&b, map[string]any{"A": "X", "B": "Y", "None": "", "List": []string{"1", "2"}}); err != nil || b.String() != want {
			t.Errorf("%s became %s, %v; want %s", text, b.String(), err, want)
		}
	}
}
