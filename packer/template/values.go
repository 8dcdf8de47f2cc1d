package template

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
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
// and the last file to give a variable decides. The error is a *fault.Error
// with the line.
func ReadValues(paths ...string) (*Values, error) {
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
// rules, and none missing but secrets, which may come from the environment.
func (v *Values) check(vars []Variable, platform string) error {
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
	var missing []string
	for _, variable := range vars {
		if _, given := v.values[variable.Name]; !given && variable.Required() && !variable.Sensitive {
			missing = append(missing, variable.Name)
		}
	}
	if len(missing) > 0 {
		return v.missing(missing[0], strings.Join(missing, ", "))
	}
	return v.together(known)
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

// together checks what no rule of Packer can: one value against another.
func (v *Values) together(known map[string]Variable) error {
	for _, pair := range [][2]string{{"iso_url", "iso_checksum"}, {"openssh_zip", "openssh_sha256"}} {
		if v.filled(pair[0]) && !v.filled(pair[1]) {
			return v.fault(pair[0], pair[0]+" is given without "+pair[1]+": nobody would notice another file in its place", "add "+pair[1]+" to "+v.ranges[pair[0]].Filename+": sha256sum FILE prints it")
		}
	}
	for _, pair := range [][2]string{{"iso_path", "iso_url"}, {"cluster", "host"}} {
		if _, asked := known[pair[0]]; asked && !v.filled(pair[0]) && !v.filled(pair[1]) {
			return v.missing(pair[0], pair[0]+" or "+pair[1])
		}
	}
	if firmware, given := v.values["firmware"]; given && v.on("vtpm") && firmware.AsString() == "bios" {
		return v.fault("vtpm", "vtpm is true and firmware is bios: a TPM needs EFI", `take firmware = "efi-secure", or leave vtpm out`)
	}
	return nil
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

// on reports whether a switch is given as true.
func (v *Values) on(name string) bool {
	value, ok := v.values[name]
	return ok && value.True()
}

func (v *Values) filled(name string) bool {
	value, ok := v.values[name]
	return ok && value.Type() == cty.String && value.AsString() != ""
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
		if variable.Path && value.AsString() != "" {
			absolute, err := filepath.Abs(value.AsString())
			if err != nil {
				return fmt.Errorf("find %s: %w", value.AsString(), err)
			}
			if !strings.HasPrefix(value.AsString(), "~") {
				value = cty.StringVal(absolute)
			}
		}
		b.set(variable.Name, string(hclwrite.TokensForValue(value).Bytes()))
	}
	data, err := doc.bytes()
	r.add("values.auto.pkrvars.hcl", data)
	return err
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
