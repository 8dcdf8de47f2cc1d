package hclfolder

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
)

// readValues reads the var-files in Packer's order: those of the folder that it
// reads by itself, and those that were asked for, which must be readable.
func (f *Folder) readValues(asked []string) error {
	for _, pattern := range []string{"*.pkrvars.hcl", "*.pkrvars.json"} {
		names, _ := filepath.Glob(filepath.Join(f.Dir, pattern))
		for _, name := range names {
			values, err := expression.ReadValues(name, filepath.Base(name))
			if err != nil {
				continue // Packer complains of those that it reads by itself
			}
			for variable, a := range values {
				f.Beside[variable] = append(f.Beside[variable], a)
			}
			if strings.Contains(filepath.Base(name), ".auto.pkrvars.") {
				f.give(values)
			}
		}
	}
	for _, path := range asked {
		values, err := expression.ReadValues(path, path)
		if err != nil {
			return err
		}
		f.give(values)
	}
	return nil
}

func (f *Folder) give(values hcl.Attributes) {
	for name, a := range values {
		if value, diags := a.Expr.Value(nil); !diags.HasErrors() {
			f.Given[name] = value
		}
	}
}

// evaluate makes the context that expressions are evaluated in: what is given,
// else defaults; everything else is there and unknown.
func (f *Folder) evaluate(ctx context.Context) error {
	vars := map[string]cty.Value{}
	for name, b := range f.Variables {
		vars[name] = cty.DynamicVal
		if a := b.Body.Attributes["default"]; a != nil {
			if v, diags := a.Expr.Value(nil); !diags.HasErrors() {
				vars[name] = v
			}
		}
		if v, ok := f.Given[name]; ok {
			vars[name] = v
		}
	}
	f.Context = &hcl.EvalContext{Functions: expression.Functions(f.Dir, &f.left), Variables: map[string]cty.Value{
		"var": cty.ObjectVal(vars), "data": cty.DynamicVal, "source": cty.DynamicVal, "build": cty.DynamicVal, "packer": cty.DynamicVal,
		"path": cty.ObjectVal(map[string]cty.Value{"root": cty.StringVal(f.Dir), "cwd": cty.StringVal(".")}),
	}}
	l := &locals{Folder: f, values: map[string]cty.Value{}, left: expression.MaxAll}
	for _, name := range slices.Sorted(maps.Keys(f.Locals)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.value(name)
	}
	f.Context.Variables["local"] = cty.ObjectVal(l.values)
	return nil
}

// locals evaluates each local once, behind those that it refers to.
type locals struct {
	*Folder
	values map[string]cty.Value
	left   int // bytes that may be read yet
}

func (l *locals) value(name string) cty.Value {
	e := l.Locals[name]
	if v, ok := l.values[name]; ok || e == nil {
		return v
	}
	l.values[name] = cty.DynamicVal // for one that refers to itself
	others, whole := map[string]cty.Value{}, false
	for _, t := range e.Variables() {
		if other := expression.Name(t); t.RootName() == "local" && l.Locals[other] != nil {
			others[other] = l.value(other)
		} else {
			whole = whole || t.RootName() == "local" && other == ""
		}
	}
	if l.Context.Variables["local"] = cty.ObjectVal(others); whole { // which of them isn't said
		l.Context.Variables["local"] = cty.DynamicVal
	}
	v, large := l.evaluated(e)
	if l.left -= expression.Size(v); large || l.left < 0 {
		l.tooLarge(name, e)
		v = cty.DynamicVal
	}
	l.values[name] = v
	return v
}

// tooLarge tells of the first local that isn't read for its size.
func (f *Folder) tooLarge(name string, e hclsyntax.Expression) {
	const id = "template.hcl"
	if slices.ContainsFunc(f.Unreadable, func(u finding.Finding) bool { return u.ID == id && u.Severity == finding.Unknown }) {
		return
	}
	f.Unreadable = append(f.Unreadable, finding.Finding{ID: id, Severity: finding.Unknown, Object: "local." + name, Observed: "its value is too large to be read here",
		Why: "what is made of it isn't looked at", Remedy: "make it shorter, or look at it by hand and --accept " + id + "=local." + name, Evidence: At(e.Range().Filename, e.Range().Start.Line)})
}

// Value evaluates an expression; what can't be, or is too large, is unknown.
func (f *Folder) Value(e hcl.Expression) cty.Value {
	v, _ := f.evaluated(e)
	return v
}

// evaluated is an expression's value, and whether it is too large.
func (f *Folder) evaluated(e hcl.Expression) (v cty.Value, large bool) {
	if !expression.Fits(e, f.Context) {
		return cty.DynamicVal, true
	}
	f.left = expression.MaxAll
	v, diags := e.Value(f.Context)
	large = f.left < 0 || !diags.HasErrors() && expression.Size(v) > expression.MaxValue
	if diags.HasErrors() || large {
		return cty.DynamicVal, large
	}
	return v, false
}

// State is how much is known about an attribute.
type State int

// What may be known of one.
const (
	Absent  State = iota // not there, or null
	Unknown              // given at build time
	Known
)

// Text is an attribute as a string.
func (f *Folder) Text(b *hclsyntax.Body, name string) (string, State) {
	a := b.Attributes[name]
	if a == nil {
		return "", Absent
	}
	return f.Scalar(a.Expr)
}

// Scalar is an expression as a string.
func (f *Folder) Scalar(e hclsyntax.Expression) (string, State) {
	v := f.Value(e)
	switch {
	case !v.IsWhollyKnown():
		return "", Unknown
	case v.IsNull():
		return "", Absent
	}
	text, err := convert.Convert(v, cty.String)
	if err != nil {
		return "", Unknown
	}
	return text.AsString(), Known
}

// Has reports whether an attribute is there and isn't null or empty.
func (f *Folder) Has(b *hclsyntax.Body, name string) bool {
	a := b.Attributes[name]
	if a == nil {
		return false
	}
	v := f.Value(a.Expr)
	if v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
		return v.LengthInt() > 0
	}
	s, st := f.Text(b, name)
	return st == Unknown || st == Known && s != ""
}

// Objects are those in an expression, each before those in it.
func Objects(e hclsyntax.Expression) []*hclsyntax.ObjectConsExpr {
	var all []*hclsyntax.ObjectConsExpr
	_ = hclsyntax.VisitAll(e, func(node hclsyntax.Node) hcl.Diagnostics {
		if o, ok := node.(*hclsyntax.ObjectConsExpr); ok {
			all = append(all, o)
		}
		return nil
	})
	return all
}

// VariablesOf are the variables in these attributes, each once.
func VariablesOf(b *hclsyntax.Body, attributes ...string) []string {
	var names []string
	for _, attribute := range attributes {
		if a := b.Attributes[attribute]; a != nil {
			for _, t := range a.Expr.Variables() {
				if name := expression.Name(t); t.RootName() == "var" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// FunctionFails reports whether a function that is known here ends an
// expression.
func FunctionFails(e hclsyntax.Expression, ctx *hcl.EvalContext) bool {
	_, diags := e.Value(ctx)
	return slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool {
		_, failed := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
		return failed
	})
}
