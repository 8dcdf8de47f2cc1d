package skewreport

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validate "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/winbake/winbake/internal/base/finding"
)

// generate makes the schema from the Go model and its comments. strict knows no
// field but those of today; the published one lets fields be added.
func generate(t *testing.T, strict bool) []byte {
	t.Helper()
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: !strict, Mapper: severities}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../..") // comments are found by import path + folder
	for _, folder := range []string{"report/skewreport", "skew", "base/finding", "cluster/inventory"} {
		if err := r.AddGoComments("github.com/winbake/winbake", "./internal/"+folder); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	s := r.Reflect(&Document{})
	s.Title, s.Description = "Report of verify skew", ""
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func severities(t reflect.Type) *jsonschema.Schema {
	if t != reflect.TypeFor[finding.Severity]() {
		return nil
	}
	s := &jsonschema.Schema{Type: "string"}
	for v := finding.Pass; v <= finding.Block; v++ {
		s.Enum = append(s.Enum, v.String())
	}
	return s
}

// published is the schema that docs/reference.md links to.
func published(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("skew-report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSchemaCurrent(t *testing.T) {
	got := generate(t, false)
	if *update {
		if err := os.WriteFile("skew-report.schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(published(t)) != string(got) {
		t.Errorf("skew-report.schema.json isn't what the model says (-update writes it again):\n%s", got)
	}
	if n := bytes.Count(got, []byte(`"description"`)); n != 96 {
		t.Errorf("%d fields are described", n)
	}
}

func compiled(t *testing.T, schema []byte) *validate.Schema {
	t.Helper()
	doc, err := validate.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := validate.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("schema.json")
}

func TestOutputFitsSchema(t *testing.T) {
	strict, published := compiled(t, generate(t, true)), compiled(t, published(t))
	outputs := map[string]string{"empty": output(t, "json", Report{}, Options{})}
	for name, sample := range samples {
		outputs[name] = output(t, "json", sample(), Options{})
	}
	for name, out := range outputs {
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		if err := strict.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v["added"] = true
		if err := published.Validate(v); err != nil {
			t.Errorf("%s: the published schema refuses a new field: %v", name, err)
		}
		for _, change := range []func(){
			func() { v["verdict"] = "FINE" }, func() { delete(v, "verdict") }, func() { v["apiVersion"] = "winbake.dev/skew/v2" },
			func() { v["findings"] = []any{map[string]any{"id": 7}} }, func() { v["exitCode"] = 9 },
		} {
			if err := json.Unmarshal([]byte(out), &v); err != nil {
				t.Fatal(err)
			}
			change()
			if published.Validate(v) == nil {
				t.Errorf("%s: the schema lets anything through", name)
			}
		}
	}
}

// The document names every field of the schema, as reports and tables do.
func TestDocumentNamesEveryField(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(published(t), &schema); err != nil {
		t.Fatal(err)
	}
	for _, name := range properties(schema) {
		if !bytes.Contains(doc, []byte("`"+name+"`")) {
			t.Errorf("docs/reference.md says nothing of %s", name)
		}
	}
}

func properties(v any) []string {
	var names []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if fields, ok := value.(map[string]any); ok && key == "properties" {
				for name := range fields {
					names = append(names, name)
				}
			}
			names = append(names, properties(value)...)
		}
	case []any:
		for _, value := range v {
			names = append(names, properties(value)...)
		}
	}
	return names
}

// What a cluster says is in the JSON as it was said, but for broken UTF-8.
func TestJSONKeepsValues(t *testing.T) {
	var d Document
	if err := json.Unmarshal([]byte(output(t, "json", unknown(), Options{})), &d); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(hostile, "\ufffd")
	if d.From != want || d.Drivers[0].Object != want || d.Findings[3].Evidence[0] != want || d.Coverage[want].Reason != want {
		t.Errorf("got %q, want %q", d.From, want)
	}
}
