package hclfolder

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/winbake/winbake/packer/internal/expression"
)

// readValues reads the var-files that Packer reads by itself, and those that were asked
// for, which must be readable.
func (f *Folder) readValues(asked []string) error {
	own, _ := filepath.Glob(filepath.Join(f.Dir, "*.auto.pkrvars.*"))
	for i, name := range append(own, asked...) {
		values, _, err := expression.ReadValues(name)
		if err != nil && i >= len(own) {
			return err // of its own files Packer complains itself
		}
		for variable, a := range values {
			if value, diags := a.Expr.Value(nil); !diags.HasErrors() {
				f.given[variable] = value
			}
			if i < len(own) {
				f.Beside[variable] = a
			}
		}
	}
	return nil
}

// evaluate makes the context that expressions are evaluated in: what is given,
// else defaults; everything else is there and unknown.
func (f *Folder) evaluate() {
	vars := map[string]cty.Value{}
	for name, b := range f.Variables {
		vars[name] = cty.DynamicVal
		if a := b.Body.Attributes["default"]; a != nil {
			if v, diags := a.Expr.Value(nil); !diags.HasErrors() {
				vars[name] = v
			}
		}
		if v, ok := f.given[name]; ok {
			vars[name] = v
		}
	}
	f.context = &hcl.EvalContext{Functions: expression.Functions(f.Dir), Variables: map[string]cty.Value{
		"var": cty.ObjectVal(vars), "data": cty.DynamicVal, "source": cty.DynamicVal, "build": cty.DynamicVal, "packer": cty.DynamicVal,
		"path": cty.ObjectVal(map[string]cty.Value{"root": cty.StringVal(f.Dir), "cwd": cty.StringVal(".")}),
	}}
	values := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(f.Locals)) {
		f.local(name, values)
	}
	f.context.Variables["local"] = cty.ObjectVal(values)
}

// local evaluates one behind those that it refers to.
func (f *Folder) local(name string, values map[string]cty.Value) {
	e := f.Locals[name]
	if _, done := values[name]; done || e == nil {
		return
	}
	values[name] = cty.DynamicVal // for one that refers to itself
	for _, t := range e.Variables() {
		if t.RootName() == "local" {
			f.local(expression.Name(t), values)
		}
	}
	f.context.Variables["local"] = cty.ObjectVal(values)
	values[name] = f.Value(e)
}

// Value evaluates an expression; what can't be is unknown.
func (f *Folder) Value(e hcl.Expression) cty.Value {
	v, diags := e.Value(f.context)
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	return v
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
	v := f.Value(a.Expr)
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

// Has reports whether an attribute is there and isn't null or empty, as far as that is
// known.
func (f *Folder) Has(b *hclsyntax.Body, name string) bool {
	text, st := f.Text(b, name)
	return st == Unknown || text != ""
}

// Visit calls fn for each part of an expression, and of the locals that it names.
func (f *Folder) Visit(e hclsyntax.Expression, fn func(hclsyntax.Expression)) {
	seen := map[string]bool{}
	var visit func(hclsyntax.Node) hcl.Diagnostics
	visit = func(node hclsyntax.Node) hcl.Diagnostics {
		if part, ok := node.(hclsyntax.Expression); ok {
			fn(part)
		}
		if t, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && t.Traversal.RootName() == "local" {
			if name := expression.Name(t.Traversal); f.Locals[name] != nil && !seen[name] {
				seen[name] = true
				return hclsyntax.VisitAll(f.Locals[name], visit)
			}
		}
		return nil
	}
	_ = hclsyntax.VisitAll(e, visit)
}

// Texts are the strings that are known of an expression: of what it becomes, and of
// its parts, such as those of both ways of a condition.
func (f *Folder) Texts(e hclsyntax.Expression) []string {
	all := expression.Texts(f.Value(e))
	f.Visit(e, func(part hclsyntax.Expression) { all = append(all, expression.Texts(f.Value(part))...) })
	slices.Sort(all)
	return slices.Compact(all)
}

// Each calls fn for each attribute of a body and of the blocks in it; path is where it is.
func Each(b *hclsyntax.Body, path string, fn func(path string, a *hclsyntax.Attribute)) {
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		fn(path+"."+name, b.Attributes[name])
	}
	for _, inner := range b.Blocks {
		Each(inner.Body, path+"."+inner.Type, fn)
	}
}

// AllTexts are those of a body and of the blocks in it.
func (f *Folder) AllTexts(b *hclsyntax.Body) []string {
	var all []string
	Each(b, "", func(_ string, a *hclsyntax.Attribute) { all = append(all, f.Texts(a.Expr)...) })
	return all
}
