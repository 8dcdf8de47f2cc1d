// Package expression is what Packer's expressions have: functions, and values
// as a checker asks for them.
package expression

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/winbake/winbake/internal/base/infile"
)

// Functions are those of Packer's that don't reach out, with Packer's meaning
// (https://developer.hashicorp.com/packer/docs/templates/hcl_templates/functions).
// Any other makes an expression unknown.
func Functions(dir string) map[string]function.Function {
	all := map[string]function.Function{
		"coalesce": stdlib.CoalesceFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc,
		"flatten": stdlib.FlattenFunc, "format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc, "join": stdlib.JoinFunc,
		"keys": stdlib.KeysFunc, "lookup": stdlib.LookupFunc, "lower": stdlib.LowerFunc, "max": stdlib.MaxFunc,
		"merge": stdlib.MergeFunc, "min": stdlib.MinFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc, "replace": stdlib.ReplaceFunc,
		"reverse": stdlib.ReverseListFunc, "split": stdlib.SplitFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc,
		"trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc,
		"jsonencode": stdlib.JSONEncodeFunc, "jsondecode": stdlib.JSONDecodeFunc,
	}
	text := func(name string, f func(string) (string, error)) {
		all[name] = function.New(&function.Spec{
			Params: []function.Parameter{{Name: "text", Type: cty.String}},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				out, err := f(args[0].AsString())
				return cty.StringVal(out), err
			},
		})
	}
	text("abspath", filepath.Abs)
	text("file", func(path string) (string, error) {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", err
			}
			path = filepath.Join(home, rest)
		}
		data, err := ReadAt(dir, path)
		return string(data), err
	})
	all["length"] = function.New(&function.Spec{ // of text too, unlike stdlib's
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].Type() == cty.String {
				return stdlib.Strlen(args[0])
			}
			return stdlib.Length(args[0])
		},
	})
	all["can"], all["try"] = tryfunc.CanFunc, tryfunc.TryFunc
	return all
}

// ReadAt reads a file that a template names, relative to its folder.
func ReadAt(dir, path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return infile.Read(path, infile.Text)
}

// Texts are the strings of a value that are known: one, or a list's.
func Texts(v cty.Value) []string {
	var out []string
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return nil
	}
	if v.Type() == cty.String {
		return []string{v.AsString()}
	}
	if v.CanIterateElements() {
		for _, e := range v.AsValueSlice() {
			out = append(out, Texts(e)...)
		}
	}
	return out
}
