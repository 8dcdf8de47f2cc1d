package winscript

import (
	"encoding/base64"
	"slices"
	"strings"
)

// member is what a value's member, element or method gives, as far as it is of
// a hash table or a string.
func (r *runner) member(n *node) Value {
	of := r.eval(n.kids[0])
	switch n.kind {
	case element:
		var found Value
		for _, key := range r.eval(n.kids[1]).Texts {
			v, _ := of.field(strings.ToLower(key))
			found = found.and(v)
		}
		if !found.empty() {
			return found
		}
		if len(of.tables) > 0 || len(of.Texts) > 1 {
			return of
		}
	case member:
		if v, ok := of.field(n.text); ok {
			return v
		}
		if len(of.tables) > 0 && (n.text == "keys" || n.text == "values") {
			return of.entries(n.text == "keys")
		}
	case method:
		return r.method(n, of)
	}
	return open(r.filledSource(n, of))
}

// filledSource is a member in its source's words, in which what it is of has its
// value if that is known.
func (r *runner) filledSource(n *node, of Value) string {
	source := r.source(n)
	if len(of.Texts) == 1 && !strings.HasPrefix(of.Texts[0], "$") && n.kids[0].kind == variable {
		return strings.Replace(source, r.source(n.kids[0]), strings.ToLower(of.Texts[0]), 1)
	}
	return source
}

func (r *runner) method(n *node, of Value) Value {
	c := Command{Name: "." + n.text, Object: r.source(n.kids[0]), Input: of}
	for _, k := range n.kids[1:] {
		c.Args = append(c.Args, Arg{Value: r.eval(k)})
	}
	r.record(c, n)
	arg := func(i int) string {
		if i < len(c.Args) && len(c.Args[i].Value.Texts) > 0 {
			return c.Args[i].Value.Texts[0]
		}
		return ""
	}
	switch n.text {
	case "invoke":
		for _, b := range of.blocks {
			r.call(b, c.Args, Value{})
		}
	case "getenumerator":
		var out Value
		for _, t := range of.tables {
			for _, key := range sorted(t) {
				out.tables = bounded(&out, out.tables, []map[string]Value{{"key": known(key), "name": known(key), "value": t[key]}})
			}
		}
		return out
	case "trim", "trimend", "trimstart", "tostring", "getnewclosure":
		return of
	case "frombase64string": // its bytes, for GetString
		if data, err := base64.StdEncoding.DecodeString(arg(0)); err == nil && len(data) > 0 {
			return known(string(data))
		}
	case "getstring":
		if strings.HasSuffix(c.Object, "unicode") && arg(0) != "" {
			return c.Args[0].Value.mapped(ofUTF16)
		} else if arg(0) != "" {
			return c.Args[0].Value
		}
	case "tolower", "tolowerinvariant":
		return of.mapped(strings.ToLower)
	case "toupper", "toupperinvariant":
		return of.mapped(strings.ToUpper)
	case "replace":
		if len(c.Args) == 2 {
			return of.mapped(func(s string) string { return strings.ReplaceAll(s, arg(0), arg(1)) })
		}
	case "split":
		var out Value
		for _, t := range of.Texts {
			out.Texts = append(out.Texts, strings.Split(t, arg(0))...)
		}
		out.Open = of.Open
		return out
	case "combine", "join", "concat", "format":
		var out Value
		for _, a := range c.Args {
			out = out.and(a.Value)
		}
		if n.text == "combine" && len(c.Args) == 2 {
			return c.Args[0].Value.joined(c.Args[1].Value, `\`)
		}
		return open(strings.Join(out.Texts, " "))
	}
	return open(r.filledSource(n, of))
}

func (r *runner) operation(n *node) Value {
	if comparing(n.text) {
		r.inCompare++
		for _, k := range n.kids {
			r.eval(k)
		}
		r.inCompare--
		return Value{Open: true}
	}
	var of []Value
	for _, k := range n.kids {
		of = append(of, r.eval(k))
	}
	switch {
	case n.text == "-join":
		between := ""
		if len(of) == 2 && len(of[1].Texts) > 0 {
			between = of[1].Texts[0]
		}
		return Value{Texts: []string{strings.Join(of[0].Texts, between)}, Open: of[0].Open}
	case len(of) == 1 && (n.text == "," || n.text == "++" || n.text == "--"):
		return of[0]
	case len(of) == 1 && n.text == "-":
		return of[0].mapped(func(s string) string { return "-" + s })
	case len(of) == 1:
		return Value{Open: true}
	case n.text == "+" && len(of[0].tables)+len(of[1].tables)+len(of[0].blocks) > 0, n.text == "+" && (n.kids[0].kind == group || n.kids[1].kind == group || n.kids[0].kind == list || n.kids[1].kind == list):
		return of[0].and(of[1])
	case n.text == "+":
		return of[0].joined(of[1], "")
	case n.text == "-f":
		return formatted(of[0], of[1])
	case n.text == "-split":
		var out Value
		for _, t := range of[0].Texts {
			out.Texts = append(out.Texts, strings.FieldsFunc(t, func(c rune) bool { return c == '\n' || c == ',' || c == ' ' || c == ';' })...)
		}
		out.Open = true
		return out
	case strings.HasSuffix(n.text, "replace"): // what comes in is the second of two
		return Value{Texts: slices.Concat(of[0].Texts, of[1].Texts[min(1, len(of[1].Texts)):]), Open: true}
	case n.text == "?" || n.text == ":" || n.text == "??":
		return of[0].and(of[1])
	}
	return open(r.source(n))
}

// formatted is the -f operator.
func formatted(format, with Value) Value {
	out := Value{Open: format.Open || with.Open}
	for _, f := range format.Texts {
		for i, t := range with.Texts {
			f = strings.ReplaceAll(f, "{"+string(rune('0'+i%10))+"}", t)
		}
		out.Texts = append(out.Texts, f)
	}
	return out
}
