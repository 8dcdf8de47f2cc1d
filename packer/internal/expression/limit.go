package expression

import (
	"errors"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The bounds of values, in bytes: a few lines that double each other fill any
// memory.
const (
	MaxValue = 4 << 20  // of one
	MaxAll   = 64 << 20 // of all locals together, of an expression's parts, and of what its functions return
)

// Size is about how many bytes a value takes; more than MaxAll isn't counted.
func Size(v cty.Value) int {
	const element = 32
	switch {
	case !v.IsKnown() || v.IsNull():
	case v.Type() == cty.String:
		return len(v.AsString())
	case v.Type() == cty.Number: // as a text
		exponent := v.AsBigFloat().MantExp(nil)
		return max(exponent, -exponent) / 3
	case v.CanIterateElements():
		n := 0
		for it := v.ElementIterator(); n <= MaxAll && it.Next(); {
			key, value := it.Element()
			n += element + Size(key) + Size(value)
		}
		return n
	}
	return 1
}

// multiplies are functions that make more elements of a text than it names.
var multiplies = map[string]bool{"split": true, "regexall": true, "jsondecode": true}

// Fits reports whether an expression can be evaluated in little memory. It is told
// from what stands in it, each loop taking all elements that it speaks of.
func Fits(e hcl.Expression, ctx *hcl.EvalContext) bool {
	node, ok := e.(hclsyntax.Node)
	if !ok {
		return true
	}
	r := e.Range()
	bytes, elements, loops, texts := r.End.Byte-r.Start.Byte, 1, 0, false
	count := func(v cty.Value) {
		if bytes += Size(v); v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			elements += v.LengthInt()
		}
	}
	_ = hclsyntax.VisitAll(node, func(node hclsyntax.Node) hcl.Diagnostics {
		switch n := node.(type) {
		case *hclsyntax.LiteralValueExpr:
			count(n.Val)
		case *hclsyntax.ScopeTraversalExpr:
			if v, diags := n.Value(ctx); bytes <= MaxAll && !diags.HasErrors() {
				count(v)
			}
		case *hclsyntax.TupleConsExpr:
			elements += len(n.Exprs)
		case *hclsyntax.ObjectConsExpr:
			elements += len(n.Items)
		case *hclsyntax.FunctionCallExpr:
			texts = texts || multiplies[n.Name]
		case *hclsyntax.ForExpr:
			loops++
		}
		return nil
	})
	if texts {
		elements += bytes
	}
	for ; loops > 0 && bytes <= MaxAll; loops-- {
		bytes *= elements
	}
	return bytes <= MaxAll
}

var (
	errLarge = errors.New("the value is too large")
	wide     = regexp.MustCompile(`%[^%a-zA-Z]*\d{4}`) // pads to thousands of characters
)

// limited is a function that takes and returns what fits. left is what all of
// them may return yet, and negative once one didn't fit.
func limited(name string, f function.Function, left *int) function.Function {
	large := func() error {
		*left = -1
		return errLarge
	}
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			// A separator comes between all elements, a replacement in all places.
			total, most := 0, 0
			for _, a := range args {
				n := Size(a)
				total, most = total+n, max(most, n)
			}
			if most > MaxAll || most*(total-most) > 4*MaxAll {
				return cty.DynamicPseudoType, large()
			}
			if (name == "format" || name == "formatlist") && args[0].Type() == cty.String && args[0].IsKnown() && !args[0].IsNull() && wide.MatchString(args[0].AsString()) {
				return cty.DynamicPseudoType, large()
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			if err != nil {
				return v, err
			}
			n := Size(v)
			if *left -= n; n > MaxValue || *left < 0 {
				return cty.DynamicVal, large()
			}
			return v, nil
		},
	})
}
