package winscript

import (
	"maps"
	"slices"
	"strings"
)

// Value is what an expression may be: one of several, or a list of them, which
// isn't told apart. What isn't known has its source's text, so that the same
// expression is the same.
type Value struct {
	Texts []string
	// Open: it may be something else as well.
	Open bool

	tables []map[string]Value
	blocks []*node
}

// maxTexts bounds what a value may be.
const maxTexts = 64

func known(texts ...string) Value { return Value{Texts: texts} }
func open(texts ...string) Value  { return Value{Texts: texts, Open: true} }
func (v Value) empty() bool       { return len(v.Texts)+len(v.tables)+len(v.blocks) == 0 }

// Has tells whether text is one of the values.
func (v Value) Has(text string) bool { return slices.Contains(v.Texts, text) }

func (v Value) and(w Value) Value {
	out := Value{Open: v.Open || w.Open}
	out.Texts = bounded(&out, v.Texts, w.Texts)
	out.tables = bounded(&out, v.tables, w.tables)
	out.blocks = bounded(&out, v.blocks, w.blocks)
	return out
}

// bounded is both, as many as a value may be of: $a += $a doubles one.
func bounded[T any](of *Value, a, b []T) []T {
	all := slices.Concat(a, b)
	of.Open = of.Open || len(all) > maxTexts
	return all[:min(len(all), maxTexts)]
}

// joined is each text of v with each of w behind it.
func (v Value) joined(w Value, between string) Value {
	out := Value{Open: v.Open || w.Open}
	for _, a := range v.Texts {
		for _, b := range w.Texts {
			if len(out.Texts) == maxTexts || len(a)+len(b) > 1<<14 {
				out.Open = true
				return out
			}
			out.Texts = append(out.Texts, a+between+b)
		}
	}
	return out
}

func (v Value) mapped(f func(string) string) Value {
	out := Value{Open: v.Open}
	for _, t := range v.Texts {
		out.Texts = append(out.Texts, f(t))
	}
	return out
}

// field is a member of a hash table.
func (v Value) field(name string) (Value, bool) {
	var out Value
	found := false
	for _, t := range v.tables {
		if f, ok := t[name]; ok {
			out, found = out.and(f), true
		}
	}
	return out, found
}

// entries are the keys of hash tables, or their values.
func (v Value) entries(keys bool) Value {
	var out Value
	for _, t := range v.tables {
		for _, key := range sorted(t) {
			if keys {
				out = out.and(known(key))
			} else {
				out = out.and(t[key])
			}
		}
	}
	return out
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func unquoted(s string) string { return strings.Trim(s, `"' `) }

// kind tells nodes apart.
type kind int

const (
	literal    kind = iota // text
	expanded               // kids joined: a string in double quotes, a word with variables in it
	variable               // text is its name, in lower case
	member                 // kids[0]'s member text
	element                // kids[0] at kids[1]
	method                 // kids[0]'s method text, called with the other kids
	list                   // kids
	table                  // kids are names and values in turn
	block                  // { }: kids are statements; params
	group                  // ( ), $( ) and @( ): kids are statements
	typed                  // [text], or a cast of kids[0] to it
	operation              // text is the operator
	command                // kids[0] is the name, the others are arguments
	parameter              // -text
	splat                  // @text
	pipeline               // kids are stages
	assignment             // kids[0] becomes kids[1]; text is the operator
	function               // text is its name, kids[0] its block
	control                // text is the keyword, kids are conditions and blocks
	loop                   // foreach: kids are variable, values, block
	jump                   // return, throw, exit, break, continue
)

// node is a part of a script.
type node struct {
	kind   kind
	text   string
	kids   []*node
	params []*node // of a block: assignments of defaults to variables
	pos    int     // where it begins
	end    int
}

func (n *node) isAttribute() bool {
	return n.kind == typed && len(n.kids) == 0 && strings.HasSuffix(n.text, ")")
}
