package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var rulePlugin = Rule{
	ID: "template.plugin", Severity: finding.Warn,
	Title:  "each plugin has a source and a version with an end",
	Why:    "the next build may run on a plugin whose keys mean something else",
	Remedy: `required_plugins { NAME = { source = "github.com/OWNER/NAME", version = ">= 1.4.2, < 2.0.0" } }`,

	folder: plugins,
}

// bounded is a version constraint with an end: an exact version, a pessimistic
// one, or an upper bound.
var bounded = regexp.MustCompile(`(^|,)\s*(=\s*)?v?[0-9]|~>|<`)

func plugins(l *look) {
	var brought []string
	for _, p := range l.Packer {
		for _, body := range hclfolder.Inner(p.Body, "required_plugins") {
			for _, name := range sortedKeys(body.Attributes) {
				brought = append(brought, name)
				l.bounds(name, body.Attributes[name])
			}
		}
	}
	for _, s := range l.Sources {
		brings := func(plugin string) bool { return s.Kind() == plugin || strings.HasPrefix(s.Kind(), plugin+"-") }
		if s.Kind() != "null" && !slices.ContainsFunc(brought, brings) {
			l.add(s.Name(), finding.Finding{Observed: "no required_plugins entry", Expected: "one that brings " + s.Kind(), Evidence: s.At()})
		}
	}
}

// bounds holds an entry of required_plugins to a source and a range with an end.
func (l *look) bounds(name string, a *hclsyntax.Attribute) {
	f := finding.Finding{Observed: "no source", Expected: `source = "github.com/OWNER/NAME"`, Evidence: hclfolder.At(a.SrcRange.Filename, a.SrcRange.Start.Line)}
	if v := l.Value(a.Expr); v.IsWhollyKnown() && !v.IsNull() && v.Type().IsObjectType() {
		fields := v.AsValueMap()
		version := strings.Join(expression.Texts(fields["version"]), "")
		if len(expression.Texts(fields["source"])) > 0 {
			f.Observed, f.Expected = "version "+strconv.Quote(version), "a range with an end"
			if bounded.MatchString(version) {
				return
			}
		}
	}
	l.add(name, f)
}
