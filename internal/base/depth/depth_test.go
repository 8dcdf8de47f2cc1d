package depth

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	yaml "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// growth is how much a call allocates.
func growth(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const size = 40_000 // bytes

func hclError(diags hcl.Diagnostics) string {
	if len(diags) == 0 {
		return ""
	}
	return diags[0].Summary
}

func TestDeepHCL(t *testing.T) {
	for _, unit := range []string{"(", "[", "{a=", "{(", "!", "-", "a?b:", "\"${", "a[", "f(", "a+(", "[for a in ", "a+", "a&&", "a==", "a[0]+", "a.*.", "<<E\n${"} {
		src := "x = " + strings.Repeat(unit, size/len(unit))
		if _, diags := ParseHCL([]byte(src), "x"); hclError(diags) != "Nested too deep" {
			t.Errorf("%q: %v", unit, diags)
		}
		if _, diags := ParseTemplate([]byte("${"+src[4:]), "x", hcl.InitialPos); hclError(diags) != "Nested too deep" {
			t.Errorf("template of %q: %v", unit, diags)
		}
	}
	for name, src := range map[string]string{
		"blocks": strings.Repeat("b {\n", 40_000), "indexes": "x = a" + strings.Repeat("[0]", 40_000),
		"directives": "x = \"" + strings.Repeat("%{if a}", 40_000), "in an object": "x = {\n" + strings.Repeat("y = {\n", 40_000),
	} {
		if _, diags := ParseHCL([]byte(src), "x"); hclError(diags) != "Nested too deep" {
			t.Errorf("%s: %v", name, diags)
		}
	}
	for _, unit := range []string{"[", `{"a":`, `{"a]":[`, `{"\"":[`} {
		if _, diags := ParseHCL([]byte(strings.Repeat(unit, 40_000)), "x.json"); hclError(diags) != "Nested too deep" {
			t.Errorf("JSON %q: %v", unit, diags)
		}
	}
}

func TestWideHCL(t *testing.T) {
	for name, src := range map[string]string{
		"attributes":  strings.Repeat("b \"c\" {\n  x = a[0] + b.c - -1\n  y = \"${a}-%{if a}b%{endif}\"\n}\n", 1000),
		"lists":       "x = [" + strings.Repeat("[a[0], !b], f(1 - 2),\n", 1000) + "]",
		"objects":     "x = {\n" + strings.Repeat("  \"a\" = b - c\n", 1000) + "}",
		"text":        "x = <<E\n" + strings.Repeat("((([[[{{{ - - - ${a} !\n", 1000) + "E\n",
		"interpolate": "x = \"" + strings.Repeat("${a + b}", 1000) + "\"",
		"comments":    strings.Repeat("# (((\n/* [[[ */\n", 1000),
	} {
		if _, diags := ParseHCL([]byte(strings.ReplaceAll(src, "b \"c\" {", "b {")), "x"); diags.HasErrors() && hclError(diags) == "Nested too deep" {
			t.Errorf("%s: %v", name, diags)
		}
	}
	text := `{"a": "` + strings.Repeat(`[{\"`, 1000) + `", "b": [` + strings.Repeat(`{"c": [1]}, `, 1000) + `{}]}`
	if _, diags := ParseHCL([]byte(text), "x.json"); diags.HasErrors() {
		t.Errorf("JSON: %v", diags)
	}
}

// The other parsers stop by themselves: see the package's comment.
func TestOtherParsersHaveLimits(t *testing.T) {
	for name, parse := range map[string]func([]byte) error{
		"encoding/json":     func(b []byte) error { return json.Unmarshal(b, new(any)) },
		"sigs.k8s.io/json":  func(b []byte) error { return kjson.UnmarshalCaseSensitivePreserveInts(b, new(any)) },
		"go.yaml.in/yaml":   func(b []byte) error { return yaml.Unmarshal(b, new(yaml.Node)) },
		"sigs.k8s.io/yaml":  func(b []byte) error { return sigsyaml.Unmarshal(b, new(any)) },
		"YAMLToJSON":        func(b []byte) error { _, err := sigsyaml.YAMLToJSON(b); return err },
		"yaml into a value": func(b []byte) error { return yaml.Unmarshal(b, new(any)) },
	} {
		deep := []byte(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))
		var err error
		if used := growth(func() { err = parse(deep) }); err == nil || !strings.Contains(err.Error(), "max depth") || used > 100<<20 {
			t.Errorf("%s: %d MB, %v", name, used>>20, err)
		}
	}
}
