package pins

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

func TestSchemaCurrent(t *testing.T) {
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "versions.schema.json", string(got))
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("versions.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("versions.schema.json")
}

func asJSON(t *testing.T, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaAcceptsAndRejects(t *testing.T) {
	s := compiled(t)
	for _, path := range []string{"../../../versions.yaml", "../../../examples/openshift-4.15/versions.yaml", "../../../examples/wmco/versions.yaml"} {
		if err := s.Validate(asJSON(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, name := range []string{"unknown-key", "number-version", "number-release", "api-version", "short-commit", "bad-sha256", "missing-payload", "missing-name", "no-components", "godebug-reason",
		"service-unknown-key", "service-no-name", "service-start", "service-priority", "service-priority-negative", "service-recovery-empty", "service-args-number", "service-not-a-list"} {
		if err := s.Validate(asJSON(t, "testdata/bad/"+name+".yaml")); err == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}
