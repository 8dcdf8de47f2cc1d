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
	"contains": stdlib.ContainsFunc,
	"length": function.New(&function.Spec{ // of text too, unlike stdlib's
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].Type() == cty.String {
				return stdlib.Strlen(args[0])
			}
			return stdlib.Length(args[0])
		},
	}),
	"file": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, err := readFile(args[0].AsString())
			return cty.StringVal(text), err
		},
	}),
}

func readFile(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = home + rest
	}
	data, err := infile.Read(path, infile.Text)
	return string(data), err
}
