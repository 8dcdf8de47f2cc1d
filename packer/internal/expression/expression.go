// Package expression is what Packer's expressions have: functions, and values
// as a checker asks for them.
package expression

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"golang.org/x/text/encoding/unicode"

	"github.com/winbake/winbake/internal/base/infile"
)

// Functions are those of Packer's that don't reach out, with Packer's meaning
// (https://developer.hashicorp.com/packer/docs/templates/hcl_templates/functions).
// Any other makes an expression unknown, and so does one that returns more than left.
func Functions(dir string, left *int) map[string]function.Function {
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
	text("base64decode", func(s string) (string, error) {
		data, err := base64.StdEncoding.DecodeString(s)
		return string(data), err
	})
	text("base64encode", func(s string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(s)), nil })
	all["textencodebase64"] = function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "encoding", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !strings.EqualFold(args[1].AsString(), "UTF-16LE") { // what PowerShell takes
				return cty.UnknownVal(cty.String), nil
			}
			out, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(args[0].AsString())
			return cty.StringVal(base64.StdEncoding.EncodeToString([]byte(out))), err
		},
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
	for name, f := range all {
		all[name] = limited(name, f, left)
	}
	all["can"], all["try"] = tryfunc.CanFunc, tryfunc.TryFunc
	return all
}

// maxFile bounds what is read of one file, in bytes: scripts and answer files
// are small.
const maxFile = 1 << 20

// ReadAt reads a file that a template names, relative to its folder.
func ReadAt(dir, path string) ([]byte, error) {
	if !filepath.IsAbs(path) && !strings.HasPrefix(filepath.Clean(path), filepath.Clean(dir)+string(filepath.Separator)) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s isn't a small file", path)
	}
	return infile.Read(path, maxFile)
}

// Texts are the strings of a value that are known: one, or a list's.
func Texts(v cty.Value) []string {
	var out []string
	if v.IsNull() || !v.IsKnown() {
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

// IsEmpty reports whether a value is null, "" or a list without anything in it.
func IsEmpty(v cty.Value) bool {
	return v.IsKnown() && (v.IsNull() || v.Type() == cty.String && v.AsString() == "" || v.CanIterateElements() && v.LengthInt() == 0)
}
