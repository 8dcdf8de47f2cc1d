package template

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/winbake/winbake/internal/depth"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
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
	data, err := infile.Read(path, infile.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Where: path, What: "there is no such var-file", Fix: "check --var-file", Err: err}
	}
	if err != nil {
		return fmt.Errorf("read the var-file: %w", err)
	}
	v.texts[path] = data
	parse := depth.ParseHCL
	if strings.HasSuffix(path, ".json") {
		parse = depth.ParseHCLJSON
	}
	file, diags := parse(data, path)
	if diags.HasErrors() {
		return diagnosed(path, diags)
	}
	attributes, diags := file.Body.JustAttributes()
	for name, a := range attributes {
		value, more := a.Expr.Value(nil)
		diags = append(diags, more...)
		v.values[name], v.ranges[name] = value, a.Expr.Range()
	}
	if diags.HasErrors() {
		return diagnosed(path, diags)
	}
	return nil
}

// check holds the values to the variables: known, of their type, within their
// rules, fitting together, and none missing but secrets, which may come from the
// environment.
func (v *Values) check(vars []Variable, demands []demand, platform string) error {
	known := map[string]Variable{}
	for _, variable := range vars {
		known[variable.Name] = variable
	}
	for _, name := range slices.Sorted(maps.Keys(v.values)) {
		variable, ok := known[name]
		if !ok {
			return v.fault(name, fmt.Sprintf("%s has no variable %s", platform, name), "leave it out; the folder's README.md lists what there is")
		}
		if err := v.checkOne(variable); err != nil {
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
	if len(missing) > 0 {
		return v.missing(missing[0], strings.Join(missing, ", "))
	}
	return nil
}

// checkOne converts a value and evaluates its variable's rules, as Packer
// will.
func (v *Values) checkOne(variable Variable) error {
	want, err := variableType(variable.Type)
	if err != nil {
		return err
	}
	value, err := convert.Convert(v.values[variable.Name], want)
	if err != nil || value.IsNull() {
		return v.fault(variable.Name, variable.Name+" has to be "+variable.Type, "write it as "+example(variable.Type))
	}
	for _, rule := range variable.Rules {
		expression, diags := hclsyntax.ParseExpression([]byte(rule.Condition), variable.Name, hcl.InitialPos)
		if diags.HasErrors() {
			return fmt.Errorf("rule of %s: %w", variable.Name, diags)
		}
		result, diags := expression.Value(&hcl.EvalContext{
			Variables: map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{variable.Name: value})},
			Functions: functions,
		})
		if diags.HasErrors() || result.IsNull() || !result.IsKnown() || result.False() {
			return v.fault(variable.Name, strings.ToLower(rule.Message[:1])+strings.TrimSuffix(rule.Message[1:], "."), cmp.Or(variable.Fix, advice(diags)))
		}
	}
	v.values[variable.Name] = value
	return nil
}

var variableInHCL = regexp.MustCompile(`(?:var|local)\.([a-z0-9_]+)`)

// together evaluates a condition on several variables, those that aren't given
// at their defaults. What isn't known yet is left to Packer.
func (v *Values) together(vars []Variable, d demand) error {
	all := map[string]cty.Value{}
	for _, variable := range vars {
		value, given := v.values[variable.Name]
		if !given {
			value = cty.DynamicVal
			if expression, diags := hclsyntax.ParseExpression([]byte(variable.Default), variable.Name, hcl.InitialPos); !variable.Required() && !diags.HasErrors() {
				value, _ = expression.Value(nil)
			}
		}
		all[variable.Name] = value
	}
	expression, diags := hclsyntax.ParseExpression([]byte(d.condition), d.name, hcl.InitialPos)
	if diags.HasErrors() {
		return fmt.Errorf("condition %s: %w", d.name, diags)
	}
	// A local has a file's path, which is read from here as it was given.
	object := cty.ObjectVal(all)
	result, diags := expression.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"var": object, "local": object}, Functions: functions})
	if !diags.HasErrors() && (!result.IsKnown() || result.True()) {
		return nil
	}
	if name := v.mentioned(d); name != "" {
		return v.fault(name, d.message, cmp.Or(d.fix, "change one of them"))
	}
	return &fault.Error{Where: strings.Join(v.Paths, ", "), What: d.message, Fix: cmp.Or(d.fix, "change one of them")}
}

// mentioned is the first variable of a condition that is given; "" for none.
func (v *Values) mentioned(d demand) string {
	for _, m := range variableInHCL.FindAllStringSubmatch(d.condition, -1) {
		if _, given := v.values[m[1]]; given {
			return m[1]
		}
	}
	return ""
}

// missing says that a value has to be given, which what names: the variable, or
// several to choose from.
func (v *Values) missing(name, what string) error {
	last := "the var-file"
	if n := len(v.Paths); n > 0 {
		last = v.Paths[n-1]
	}
	return &fault.Error{Where: strings.Join(v.Paths, ", "), What: "no value for " + what, Fix: "add " + name + ` = "..." to ` + last}
}

// addValues puts the values into the folder, so that Packer needs no
// -var-file. Secrets stay where they are.
func (r *render) addValues(vars []Variable) error {
	if r.Values == nil {
		return nil
	}
	var names []string
	for _, path := range r.Values.Paths {
		names = append(names, filepath.Base(path))
	}
	doc, b := newDocument("From " + strings.Join(names, ", ") + ", without secrets. Packer reads this file by itself.")
	b.gap()
	for _, variable := range vars {
		value, given := r.Values.values[variable.Name]
		if !given || variable.Sensitive {
			continue
		}
		if variable.Path {
			path, err := r.portable(value.AsString())
			if err != nil {
				return err
			}
			value = cty.StringVal(path)
		}
		b.set(variable.Name, string(hclwrite.TokensForValue(value).Bytes()))
	}
	data, err := doc.bytes()
	r.add("values.auto.pkrvars.hcl", data)
	return err
}

// portable is a path as the folder has it: relative to itself, so that it can be
// moved with what it names. What isn't a file's path stays as it is.
func (r *render) portable(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, "~") || strings.Contains(path, "@sha256:") {
		return path, nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil || r.Dir == "" {
		return absolute, err
	}
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(dir, absolute)
	return filepath.ToSlash(relative), err
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

// diagnosed makes HCL's first complaint a fault.
func diagnosed(path string, diags hcl.Diagnostics) error {
	first := diags.Errs()[0]
	e := &fault.Error{Where: path, What: "the var-file can't be read: " + first.Error(), Fix: `write NAME = "value", one a line`, Err: first}
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			e.Where = fmt.Sprintf("%s:%d:%d", path, d.Subject.Start.Line, d.Subject.Start.Column)
			e.What = "the var-file can't be read: " + strings.ToLower(d.Summary[:1]) + d.Summary[1:]
			break
		}
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

func advice(diags hcl.Diagnostics) string {
	if diags.HasErrors() {
		return "check the value: " + diags.Errs()[0].Error()
	}
	return "change the value"
}

func example(kind string) string {
	switch kind {
	case "number":
		return "4"
	case "bool":
		return "true or false"
	case "list(string)":
		return `["a", "b"]`
	}
	return `"text"`
}

func variableType(kind string) (cty.Type, error) {
	expression, diags := hclsyntax.ParseExpression([]byte(kind), "type", hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilType, fmt.Errorf("type %s: %w", kind, diags)
	}
	t, diags := typeexpr.TypeConstraint(expression)
	if diags.HasErrors() {
		return cty.NilType, fmt.Errorf("type %s: %w", kind, diags)
	}
	return t, nil
}
