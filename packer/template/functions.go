package template

import (
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/winbake/winbake/internal/infile"
)

// functions are those of Packer's that rules use, with Packer's meaning
// (https://developer.hashicorp.com/packer/docs/templates/hcl_templates/functions).
var functions = map[string]function.Function{
	"can":      tryfunc.CanFunc,
	"regex":    stdlib.RegexFunc,
	"length":   length,
	"contains": stdlib.ContainsFunc,
	"file":     onText(readFile),
}

// length counts characters of text too, which stdlib's doesn't.
var length = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if args[0].Type() == cty.String {
			return stdlib.Strlen(args[0])
		}
		return stdlib.Length(args[0])
	},
})

func onText(f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := f(args[0].AsString())
			return cty.StringVal(out), err
		},
	})
}

func readFile(path string) (string, error) {
	path, err := expand(path)
	if err != nil {
		return "", err
	}
	data, err := infile.Read(path, infile.Text)
	return string(data), err
}

func expand(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, nil
	}
	home, err := os.UserHomeDir()
	return home + rest, err
}
