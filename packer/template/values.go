package template

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/packer/internal/expression"
)

// Values are the assignments of var-files.
type Values struct {
	// Paths are as they were given.
	Paths  []string
	texts  map[string][]byte
	ranges map[string]hcl.Range
	values map[string]cty.Value
}

// ReadValues reads var-files as Packer does: NAME = VALUE, without references,
// and the last file to give a variable decides; nil without one. The error is a
// *fault.Error with the line.
func ReadValues(paths ...string) (*Values, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	v := &Values{Paths: paths, texts: map[string][]byte{}, ranges: map[string]hcl.Range{}, values: map[string]cty.Value{}}
	for _, path := range paths {
		if err := v.read(path); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Values) read(path string) error {
	attributes, data, err := expression.ReadValues(path)
	if err != nil {
		return err
	}
	v.texts[path] = data
	var diags hcl.Diagnostics
	for name, a := range attributes {
		value, more := a.Expr.Value(nil)
		diags = append(diags, more...)
		v.values[name], v.ranges[name] = value, a.Expr.Range()
	}
	if diags.HasErrors() {
		return expression.Unreadable(path, diags)
	}
	return nil
}

// check holds the values to the variables: known, of their type, within their
// rules, fitting together, and none missing but secrets, which may come from the
// environment.
func (v *Values) check(vars []Variable, demands []demand, platform string) error {
	if v == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(v.values)) {
		i := slices.IndexFunc(vars, func(variable Variable) bool { return variable.Name == name })
		if i < 0 {
			var names []string
			for _, variable := range vars {
				names = append(names, variable.Name)
			}
			fix := "leave it out; the folder's variables*.pkr.hcl have what there is"
			if near := fault.Nearest(name, names); near != "" {
				fix = "did you mean " + near + "?"
			}
			return v.fault(name, fmt.Sprintf("%s has no variable %s", platform, name), fix)
		}
		if err := v.checkOne(vars[i]); err != nil {
			return err
		}
	}
	// What is given is looked at first: a fault in it has a line.
	for _, given := range []bool{true, false} {
		for _, d := range demands {
			if v.mentioned(d) != "" == given {
				if err := v.together(vars, d); err != nil {
					return err
				}
			}
		}
		if err := v.complete(vars); err != nil {
			return err
		}
	}
	return nil
}

// complete refuses values without one that has to be given.
func (v *Values) complete(vars []Variable) error {
	var missing []string
	for _, variable := range vars {
		if _, given := v.values[variable.Name]; !given && variable.Required() && !variable.Sensitive {
			missing = append(missing, variable.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &fault.Error{Where: strings.Join(v.Paths, ", "), What: "no value for " + strings.Join(missing, ", "), Fix: "add " + missing[0] + ` = "..." to ` + v.Paths[len(v.Paths)-1]}
}

// checkOne converts a value and evaluates its variable's rules, as Packer
// will.
func (v *Values) checkOne(variable Variable) error {
	kind, has := kinds[variable.Type]
	if !has {
		return fmt.Errorf("variable %s has the type %s", variable.Name, variable.Type)
	}
	value, err := convert.Convert(v.values[variable.Name], kind.is)
	if err != nil || value.IsNull() {
		return v.fault(variable.Name, variable.Name+" has to be "+variable.Type, "write it as "+cmp.Or(kind.example, variable.Default))
	}
	for _, rule := range variable.Rules {
		result, diags := evaluate(rule.Condition, cty.ObjectVal(map[string]cty.Value{variable.Name: value}))
		if diags.HasErrors() || result.IsNull() || !result.IsKnown() || result.False() {
			fix := "change the value"
			if diags.HasErrors() {
				fix = "check the value: " + diags.Errs()[0].Error()
			}
			return v.fault(variable.Name, strings.ToLower(rule.Message[:1])+strings.TrimSuffix(rule.Message[1:], "."), cmp.Or(variable.Fix, fix))
		}
	}
	v.values[variable.Name] = value
	return nil
}

// evaluate takes locals for variables: a local has a file's path, which is read from
// here as it was given.
func evaluate(text string, variables cty.Value) (cty.Value, hcl.Diagnostics) {
	e, diags := hclsyntax.ParseExpression([]byte(text), "rule", hcl.InitialPos)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return e.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"var": variables, "local": variables}, Functions: expression.Functions("")})
}

var variableInHCL = regexp.MustCompile(`(?:var|local)\.([a-z0-9_]+)`)

// together evaluates a condition on several variables, those that aren't given
// at their defaults. What isn't known yet is left to Packer.
func (v *Values) together(vars []Variable, d demand) error {
	all := map[string]cty.Value{}
	for _, variable := range vars {
		value, given := v.values[variable.Name]
		if !given {
			value, _ = evaluate(variable.Default, cty.EmptyObjectVal)
		}
		all[variable.Name] = value
	}
	result, diags := evaluate(d.Condition, cty.ObjectVal(all))
	if !diags.HasErrors() && (!result.IsKnown() || result.True()) {
		return nil
	}
	if name := v.mentioned(d); name != "" {
		return v.fault(name, d.Message, cmp.Or(d.Fix, "change one of them"))
	}
	return &fault.Error{Where: strings.Join(v.Paths, ", "), What: d.Message, Fix: cmp.Or(d.Fix, "change one of them")}
}

// mentioned is the first variable of a condition that is given; "" for none.
func (v *Values) mentioned(d demand) string {
	for _, m := range variableInHCL.FindAllStringSubmatch(d.Condition, -1) {
		if _, given := v.values[m[1]]; given {
			return m[1]
		}
	}
	return ""
}

// fault points at a value. The line isn't shown where it holds a secret.
func (v *Values) fault(name, what, fix string) error {
	at := v.ranges[name]
	e := &fault.Error{Where: fmt.Sprintf("%s:%d:%d", at.Filename, at.Start.Line, at.Start.Column), What: what, Fix: fix}
	if !strings.Contains(name, "password") && !strings.Contains(name, "secret") && !strings.Contains(name, "token") {
		e.Excerpt = excerpt(v.texts[at.Filename], at)
	}
	return e
}

func excerpt(text []byte, at hcl.Range) string {
	all := strings.Split(string(text), "\n")
	if at.Start.Line < 1 || at.Start.Line > len(all) {
		return ""
	}
	return fmt.Sprintf("  %s\n  %s^", strings.ReplaceAll(all[at.Start.Line-1], "\t", " "), strings.Repeat(" ", max(at.Start.Column-1, 0)))
}

// kinds are the types of variables, with a value as it is written. A number is written as its
// default: what 4 is for processors isn't for a disk.
var kinds = map[string]struct {
	is      cty.Type
	example string
}{
	"string": {cty.String, `"text"`}, "number": {cty.Number, ""}, "bool": {cty.Bool, "true or false"}, "list(string)": {cty.List(cty.String), `["a", "b"]`},
}
