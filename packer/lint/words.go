package lint

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

var stringType = cty.String

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return `"` + s + `"`
}

// texts are the strings of a value that are known: one, or a list's.
func texts(v cty.Value) []string {
	var out []string
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if v.Type() == cty.String {
		return []string{v.AsString()}
	}
	if v.CanIterateElements() {
		for _, e := range v.AsValueSlice() {
			out = append(out, texts(e)...)
		}
	}
	return out
}

// isEmpty: null, "" or a list without anything in it.
func isEmpty(v cty.Value) bool {
	return v.IsKnown() && (v.IsNull() || v.Type() == cty.String && v.AsString() == "" || v.CanIterateElements() && v.LengthInt() == 0)
}
