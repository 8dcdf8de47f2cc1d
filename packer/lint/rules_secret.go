package lint

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
	"github.com/winbake/winbake/packer/lint/internal/secret"
)

func secrets(c *checker) {
	l := &leaks{checker: c, used: map[string]bool{}, said: map[string]bool{}}
	for _, b := range slices.Concat(c.Sources, c.Linux, c.Data) {
		l.block(b.Name(), b.Body)
	}
	for _, b := range c.Builds {
		for _, inner := range b.Body.Blocks {
			if inner.Type != "source" { // those are sources by now
				l.block(cmp.Or(strings.Join(inner.Labels, "."), inner.Type), inner.Body)
			}
		}
	}
	for _, name := range sortedKeys(c.Locals) {
		l.attribute("local."+name, name, c.Locals[name])
	}
	for _, name := range sortedKeys(c.Variables) {
		l.variable(name, c.Variables[name])
	}
}

// leaks finds secrets that are written into the template. One that comes from
// a variable is that variable's, whatever it is called.
type leaks struct {
	*checker
	used map[string]bool // variables whose value is used for a secret
	said map[string]bool
}

func (l *leaks) block(object string, b *hclsyntax.Body) {
	for _, name := range sortedKeys(b.Attributes) {
		l.attribute(object+"."+name, name, b.Attributes[name].Expr)
	}
	for _, inner := range b.Blocks {
		l.block(object+"."+strings.Join(append([]string{inner.Type}, inner.Labels...), "."), inner.Body)
	}
}

// attribute looks at a value under its name, at objects in it under their
// keys, and at NAME=value.
func (l *leaks) attribute(object, name string, e hclsyntax.Expression) {
	if secret.IsTags(name) {
		return
	}
	if secret.IsName(name) {
		l.secret(object, name, e)
	}
	tags := map[*hclsyntax.ObjectConsExpr]bool{}
	for _, o := range hclfolder.Objects(e) {
		if tags[o] {
			continue
		}
		for _, item := range o.Items {
			switch key, st := l.Scalar(item.KeyExpr); {
			case st == known && secret.IsTags(key):
				for _, below := range hclfolder.Objects(item.ValueExpr) {
					tags[below] = true
				}
			case st == known && secret.IsName(key):
				l.secret(object+"."+key, key, item.ValueExpr)
			}
		}
	}
	if name != "environment_vars" {
		return
	}
	for _, text := range expression.Texts(l.Value(e)) {
		if key, value, _ := strings.Cut(text, "="); secret.IsName(key) {
			l.leak(object+"."+key, key, value, e)
		}
	}
}

func (l *leaks) secret(object, name string, e hclsyntax.Expression) {
	if v := l.variableIn(e, len(l.Locals)); v != "" {
		l.used[v] = true
	}
	if text, st := l.Scalar(e); st == known {
		l.leak(object, name, text, e)
	}
}

// variableIn is the variable that an expression is, by locals or not.
func (l *leaks) variableIn(e hclsyntax.Expression, locals int) string {
	switch e := e.(type) {
	case *hclsyntax.TemplateWrapExpr:
		return l.variableIn(e.Wrapped, locals)
	case *hclsyntax.ScopeTraversalExpr:
		of := expression.Name(e.Traversal)
		switch {
		case e.Traversal.RootName() == "var" && len(e.Traversal) == 2:
			return of
		case e.Traversal.RootName() == "local" && l.Locals[of] != nil && locals > 0:
			return l.variableIn(l.Locals[of], locals-1)
		}
	}
	return ""
}

// leak reports a value that is there without anybody giving it.
func (l *leaks) leak(object, name, value string, e hclsyntax.Expression) {
	if !secret.Reveals(name, value) || l.comesFrom(name, value, e) {
		return
	}
	evidence := at(e.Range().Filename, e.Range().Start.Line)
	if place := object + " " + evidence[0]; !l.said[place] {
		l.said[place] = true
		l.add("template.secret", object, finding.Finding{Observed: "written into the template", Expected: "a variable", Evidence: evidence})
	}
}

// comesFrom reports whether a value is a variable's or a local's as it is, and
// has that one judged.
func (l *leaks) comesFrom(name, value string, e hclsyntax.Expression) bool {
	found := false
	for _, t := range e.Variables() {
		of := expression.Name(t)
		switch {
		case t.RootName() == "var" && l.Variables[of] != nil:
			if secret.IsName(of) || slices.Contains(expression.Texts(l.Context.Variables["var"].GetAttr(of)), value) { // encoded, say
				l.used[of], found = true, true
			}
		case t.RootName() == "local" && l.Locals[of] != nil:
			if text, _ := l.Scalar(l.Locals[of]); text == value {
				l.leak("local."+of, name, value, l.Locals[of])
				found = true
			}
		}
	}
	return found
}

// variable looks at the values of one that lie in the template's folder.
func (l *leaks) variable(name string, v *block) {
	const id = "template.secret"
	object, before := "var."+name, len(l.findings)
	value := cty.NullVal(cty.DynamicPseudoType)
	if a := v.Body.Attributes["default"]; a != nil {
		value = l.Value(a.Expr)
	}
	if secret.Holds(name, value, l.used[name]) {
		l.add(id, object, finding.Finding{Observed: "a default", Expected: "none", Evidence: v.At("default")})
	}
	for _, a := range l.Beside[name] {
		if given, diags := a.Expr.Value(nil); !diags.HasErrors() && secret.Holds(name, given, l.used[name]) {
			l.add(id, object, finding.Finding{Observed: "a value in " + a.Range.Filename, Expected: "none in the template's folder", Evidence: at(a.Range.Filename, a.Range.Start.Line),
				Remedy: "PKR_VAR_" + name + " in the environment, or a var-file that lies elsewhere"})
		}
	}
	if len(l.findings) > before {
		return
	}
	l.hidden(name, v, value)
}

// hidden looks at a variable that has no secret: whether one that is given at
// build time stays out of logs.
func (l *leaks) hidden(name string, v *block, value cty.Value) {
	const id = "template.secret"
	isSensitive, _ := l.Text(v.Body, "sensitive")
	isGiven := slices.ContainsFunc(expression.Texts(value), func(text string) bool { return text != "" })
	switch {
	case isSensitive == "true" && isGiven && !secret.IsName(name):
		l.add(id, "var."+name, finding.Finding{Severity: finding.Warn, Observed: "sensitive, with a default", Expected: "no default, or not sensitive", Evidence: v.At("default"),
			Why: "if it is a secret, anyone who has the template has it"})
	case isSensitive == "true":
		l.pass(id, "var."+name, "sensitive, and no value of it is a secret in the template")
	case (secret.IsName(name) || l.used[name]) && !isGiven && value.Type() != cty.Bool && value.Type() != cty.Number:
		l.add(id, "var."+name, finding.Finding{Severity: finding.Warn, Observed: "not sensitive", Expected: "sensitive = true", Evidence: v.At(), Why: "Packer prints it into logs"})
	}
}

func keys(c *checker) {
	const id = "template.key"
	before := len(c.findings)
	for _, name := range sortedKeys(c.Files) {
		data := opened(c.Files[name])
		for _, m := range secret.Material(data) {
			c.add(id, name, finding.Finding{Observed: m.What, Expected: "none in the template", Why: m.Why, Remedy: m.Remedy, Evidence: at(name, lineAt(data, m.Offset))})
		}
	}
	if len(c.findings) == before {
		c.pass(id, "keys", "none in the template")
	}
}

// opened is a file with what it gives PowerShell encoded in its place, on one line.
func opened(data []byte) []byte {
	text := string(data)
	inner := winscript.Encoded(text)
	for _, offset := range slices.Backward(slices.Sorted(maps.Keys(inner))) {
		text = text[:offset] + strings.ReplaceAll(inner[offset], "\n", " ") + text[offset:]
	}
	return []byte(text)
}

// payloads: node files come from an image by digest.
func payloads(c *checker) {
	const id = "template.payload"
	used := false
	for _, b := range slices.Concat(c.Data, c.Provisioners(nil)) {
		if b.Labels[0] != "winbake-payload" && b.Labels[0] != "winbake-node" {
			continue
		}
		used = true
		digest, st := c.Text(b.Body, "digest")
		ref, _ := c.Text(b.Body, "payload")
		evidence := b.At("digest")
		switch {
		case st == known && digestForm.MatchString(digest), st == absent && strings.Contains(ref, "@sha256:"):
			c.pass(id, b.Name(), cmp.Or(digest, ref))
		case st == unknown && c.demanded(b.Body, "digest"):
			c.pass(id, b.Name(), "the digest is given at build time, in a form that the template checks")
		case st == unknown:
			c.untold(id, b.Name(), "the digest is given at build time, and nothing demands one")
		default:
			c.add(id, b.Name(), finding.Finding{Observed: cmp.Or(ref, "a payload") + " without a digest", Expected: "sha256:...", Evidence: evidence})
		}
	}
	if !used {
		c.add(id, "payload", finding.Finding{Severity: finding.Info, Observed: "no node files come out of a payload", Expected: "",
			Why: "each file is copied to each node when it joins", Remedy: "bake template --payload REF@sha256:..."})
	}
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
