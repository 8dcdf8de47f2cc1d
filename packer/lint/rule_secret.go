package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleSecret = Rule{
	ID: "template.secret", Severity: finding.Block,
	Title:  "no password has a default or is written down",
	Why:    "anyone who has the template has the password, and an image made in a hurry keeps it",
	Remedy: "a variable with sensitive = true and no default",

	folder: secrets,
}

var (
	// secretName are names of variables, attributes and keys that hold a secret.
	secretName = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|(^|[_-])(pass|pwd|pw|creds?|credentials?|token|(secret|secret_access|api|account|private|product)_key))$`)
	// no secret is a switch, what something else puts in, or a file's path.
	noSecret = regexp.MustCompile(`(?i)^(true|false|yes|no|none|0|1|(\{\{[^{}]*\}\}|\$\{[^{}]*\})+|(~|\.{0,2}|[a-z]:)[\\/]\S*)$`)
)

// reveals reports whether a value under a secret's name is one.
func reveals(name, value string) bool {
	isFile := strings.HasSuffix(strings.ToLower(name), "private_key") && !strings.Contains(value, "PRIVATE KEY")
	return value != "" && !isFile && !noSecret.MatchString(value) && clientKeys[strings.ToUpper(value)] == ""
}

// leaks finds secrets that are written into the template. One that comes from
// a variable is that variable's.
type leaks struct {
	*look
	used map[string]bool // variables whose value is used for a secret
}

func secrets(l *look) {
	s := &leaks{l, map[string]bool{}}
	inAll := func(object string, b *hclsyntax.Body) {
		hclfolder.Each(b, object, func(path string, a *hclsyntax.Attribute) { s.value(path, a.Name, a.Expr) })
	}
	for _, b := range slices.Concat(l.Sources, l.Linux, l.Data) {
		inAll(b.Name(), b.Body)
	}
	for _, b := range l.Builds {
		for _, inner := range b.Body.Blocks {
			if inner.Type != "source" { // those are sources by now
				inAll(cmp.Or(strings.Join(inner.Labels, "."), inner.Type), inner.Body)
			}
		}
	}
	for _, name := range sortedKeys(l.Locals) {
		s.value("local."+name, name, l.Locals[name])
	}
	for _, name := range sortedKeys(l.Variables) {
		s.variable(name, l.Variables[name])
	}
}

// value looks at a value under its name, and at objects in it under their keys.
func (s *leaks) value(object, name string, e hclsyntax.Expression) {
	if secretName.MatchString(name) {
		s.secret(object, name, e)
	}
	if o, ok := e.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range o.Items {
			for _, key := range expression.Texts(s.Value(item.KeyExpr)) {
				s.value(object+"."+key, key, item.ValueExpr)
			}
		}
	}
}

// secret: what names no variable or local is written down; of others the variable's
// value is judged, and the local where it is.
func (s *leaks) secret(object, name string, e hclsyntax.Expression) {
	if wrap, ok := e.(*hclsyntax.TemplateWrapExpr); ok {
		e = wrap.Wrapped
	}
	t, isReference := e.(*hclsyntax.ScopeTraversalExpr)
	switch {
	case isReference && t.Traversal.RootName() == "var":
		s.used[expression.Name(t.Traversal)] = true
	case isReference && t.Traversal.RootName() == "local":
		if of := expression.Name(t.Traversal); s.Locals[of] != nil && !s.used["local "+of] {
			s.used["local "+of] = true
			s.secret("local."+of, name, s.Locals[of])
		}
	case len(e.Variables()) == 0:
		for _, text := range expression.Texts(s.Value(e)) {
			if reveals(name, text) {
				s.written(object, e)
				return
			}
		}
	}
}

func (s *leaks) written(object string, e hclsyntax.Expression) {
	s.add(object, finding.Finding{Observed: "written into the template", Expected: "a variable", Evidence: hclfolder.At(e.Range().Filename, e.Range().Start.Line)})
}

// variable looks at the values of one that are in the template's folder.
func (s *leaks) variable(name string, v *block) {
	if !secretName.MatchString(name) && !s.used[name] {
		return
	}
	value := cty.NullVal(cty.String)
	f := finding.Finding{Observed: "a default", Expected: "none", Evidence: v.At("default")}
	if a := v.Body.Attributes["default"]; a != nil {
		value = s.Value(a.Expr)
	}
	if a := s.Beside[name]; a != nil {
		value, _ = a.Expr.Value(nil)
		f.Observed, f.Evidence = "a value in "+s.rel(a.Range.Filename), hclfolder.At(s.rel(a.Range.Filename), a.Range.Start.Line)
		f.Remedy = "PKR_VAR_" + name + " in the environment, or a var-file outside of the folder"
	}
	if slices.ContainsFunc(expression.Texts(value), func(text string) bool { return reveals(name, text) }) {
		s.add("var."+name, f)
	}
}
