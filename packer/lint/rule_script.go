package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
)

var ruleScript = Rule{
	ID: "template.script", Severity: finding.Block,
	Title:  "scripts and files that are named are there",
	Why:    "packer build ends there",
	Remedy: "put it there, or leave out what names it",

	folder: files,
}

// Attributes that name files: of provisioners, and of sources those that are brought
// before Packer gets in.
var (
	ofSteps   = []string{"script", "scripts", "source", "sources"}
	ofSources = []string{"cd_files", "floppy_files", "user_data_file", "custom_data_file"}
)

// comesAlong are names of files that a template comes with: programs and keys are often
// fetched before the build.
var comesAlong = regexp.MustCompile(`(?i)\.(ps1|psm1|cmd|bat|vbs|xml|txt|ya?ml|json|ini|conf|reg|pkrtpl|tpl)(\.hcl)?$`)

func files(l *look) {
	for _, p := range l.Provisioners(nil) {
		direction, _ := l.Text(p.Body, "direction")
		generated, _ := l.Text(p.Body, "generated")
		for _, name := range ofSteps {
			if a := p.Body.Attributes[name]; a != nil && direction != "download" && generated != "true" {
				l.need(l.Value(a.Expr), name, p.At(name), func(string) bool { return true })
			}
		}
		l.functions(p)
	}
	for _, s := range l.Sources {
		for _, name := range ofSources {
			if a := s.Body.Attributes[name]; a != nil {
				l.need(l.Value(a.Expr), name, s.At(name), func(file string) bool { return comesAlong.MatchString(file) && l.there(path.Dir(file)) })
			}
		}
		l.functions(s)
	}
}

// functions looks for the files that functions read. Others than a template's own are
// texts of errors, or are made later.
func (l *look) functions(b *block) {
	hclfolder.Each(b.Body, "", func(_ string, a *hclsyntax.Attribute) {
		l.Visit(a.Expr, func(part hclsyntax.Expression) {
			if call, ok := part.(*hclsyntax.FunctionCallExpr); ok && (call.Name == "file" || call.Name == "templatefile") && len(call.Args) > 0 {
				l.need(l.Value(call.Args[0]), call.Name, hclfolder.At(call.NameRange.Filename, call.NameRange.Start.Line), comesAlong.MatchString)
			}
		})
	})
}

// need looks for the files of a value, those that have to be there.
func (l *look) need(v cty.Value, by string, evidence []string, has func(string) bool) {
	for _, text := range expression.Texts(v) {
		if file := l.rel(text); has(file) && !l.there(file) {
			l.add(file, finding.Finding{Observed: "no such file, and " + by + " names it", Expected: "a file", Evidence: evidence})
		}
	}
}

// there reports whether something is at a path, from the template's folder or from one
// above it, where Packer may be started. What isn't known here may be.
func (l *look) there(file string) bool {
	if file == "" || strings.ContainsAny(file, "$:{}\n") || filepath.IsAbs(file) {
		return true
	}
	for dir := l.Dir; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, file))
		if found, _ := filepath.Glob(filepath.Join(dir, file)); err == nil || len(found) > 0 {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
