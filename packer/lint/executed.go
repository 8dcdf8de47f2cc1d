package lint

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/answer"
	"github.com/winbake/winbake/packer/internal/expression"
	"github.com/winbake/winbake/packer/lint/internal/hclfolder"
	"github.com/winbake/winbake/packer/lint/internal/notation"
)

// Attributes of sources and provisioners whose values come to run. Those that
// are paths don't by their own words: the file that they name does.
var (
	pathAttribute = regexp.MustCompile(`(scripts?|sources?|_files?|_dirs?|_directory|_paths?)$`)
	textAttribute = regexp.MustCompile(`(inline|command|content|user_data|custom_data|metadata|override|search_criteria|filters)$|^env`)
)

// piece is text that the HCL itself has, under the name that tells its language.
// A part of it isn't known.
type piece struct {
	name, text string
	partial    bool
	inner      bool // it is in another one already, filled in

	severity finding.Severity // of a path at which there is nothing; Pass for the rule's
}

// inlineNames are for text that has no name of its own in a provisioner.
var inlineNames = map[string]string{"powershell": "inline.ps1", "windows-shell": "inline.cmd"}

// part is a block of the template whose attributes come to run.
type part struct {
	*hclsyntax.Body
	object string // for findings
	name   string // what text in it is called
	stage  Stage  // of what it runs, not of files that it only brings
	env    map[string]string
	pwsh   bool // PowerShell 7 runs it
}

// stageOf is when what an attribute has runs, and its language where the
// attribute tells.
func (p part) stageOf(attribute string) (Stage, string) {
	switch {
	case strings.HasPrefix(attribute, "user_data") || strings.HasPrefix(attribute, "custom_data") || attribute == "metadata":
		return AtSetup, p.name
	case strings.HasSuffix(attribute, "_command"):
		return AtBuild, "command.cmd"
	case attribute == "inline" || attribute == "command" || attribute == "script" || attribute == "scripts":
		return p.stage, p.name
	}
	return OnCall, p.name
}

// execute collects what a block of the template has executed, and reads the
// files that it names for that.
func (f *folder) execute(p part) {
	for _, attribute := range sortedKeys(p.Attributes) {
		isPath := pathAttribute.MatchString(attribute)
		if !isPath && !textAttribute.MatchString(attribute) || strings.HasPrefix(attribute, "env") || strings.HasSuffix(attribute, "execute_command") && p.name == "" {
			continue
		}
		stage, name := p.stageOf(attribute)
		var paths []string
		if attribute == "content" || isPath && p.Attributes["destination"] != nil {
			destination, _ := f.Text(p.Body, "destination")
			paths = []string{destination}
			if attribute == "content" {
				name = destination
			}
		}
		f.expression(p, attribute, isPath, Script{Name: name, Stage: stage, Paths: paths, Env: p.env, partial: p.pwsh, last: attribute == "shutdown_command"})
	}
	for _, inner := range p.Blocks {
		p.Body = inner.Body
		f.execute(p)
	}
}

// expression reads one attribute: files that it names, and text of its own. s is
// what is known of both.
func (f *folder) expression(p part, attribute string, isPath bool, s Script) {
	e := p.Attributes[attribute].Expr
	v := f.Value(e)
	if isPath { // what functions make of paths
		for _, path := range expression.Texts(v) {
			switch {
			case f.take(path, s):
			case f.uploads(p):
				if !f.above(path) {
					f.missing = append(f.missing, piece{name: p.object, text: path})
				}
			case onMedium.MatchString(attribute):
				f.lacks(p.object+" "+attribute, path)
			}
		}
	}
	joined := map[string]piece{} // by name: a comment may span the lines of a list
	files := false
	for _, one := range f.pieces(e, s.Name, map[string]bool{}) {
		if isPath && v.IsWhollyKnown() && !slices.Contains(expression.Texts(v), one.text) {
			continue // what a path is made of
		}
		own := s
		if one.name != s.Name {
			own.Paths = append(slices.Clone(s.Paths), one.name)
		}
		named := f.take(one.text, own)
		files = files || named
		switch {
		case !named && isPath:
			f.mentions = append(f.mentions, one.text)
		case !named && !one.inner:
			joined[one.name] = piece{name: one.name, text: joined[one.name].text + one.text + "\n", partial: joined[one.name].partial || one.partial}
		}
	}
	for _, name := range sortedKeys(joined) {
		if files && strings.TrimSpace(joined[name].text) == "" {
			continue // split("\n", file(...))
		}
		own := s
		own.Name, own.Text, own.Language, own.partial = cmp.Or(p.object+" "+name, name), joined[name].text, LanguageOf(name), s.partial || joined[name].partial
		if name != "" {
			own.Paths = append(slices.Clone(s.Paths), name)
		}
		f.scripts = append(f.scripts, own)
	}
}

// uploads reports whether a block is a provisioner that brings files: it stops at
// one that isn't there.
func (f *folder) uploads(p part) bool {
	direction, _ := f.Text(p.Body, "direction")
	generated, _ := f.Text(p.Body, "generated")
	return p.stage == AtBuild && direction != "download" && generated != "true"
}

// above reports whether a path may be meant from where Packer is started, which
// is often a folder above the template's, or lies outside of both.
func (f *folder) above(path string) bool {
	if strings.ContainsAny(path, "*?$:") || filepath.IsAbs(path) && !strings.HasPrefix(path, f.Dir) {
		return true
	}
	for dir := f.Dir; !filepath.IsAbs(path) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			return true
		}
	}
	return false
}

// onMedium are attributes of sources with files that a machine has before Packer comes in.
var onMedium = regexp.MustCompile(`^(cd|floppy)_files$|^(user|custom)_data_file$`)

// lacks notes a path of these at which there is nothing. A whole folder that isn't there
// is downloaded or made before the build, as may be programs and keys. Packer stops at
// a file, and passes over a pattern that matches none.
func (f *folder) lacks(name, path string) {
	path = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))), filepath.ToSlash(f.Dir)+"/")
	if path == "" || path == "." || strings.ContainsAny(path, "$:{\n") || filepath.IsAbs(path) {
		return
	}
	there := func(path string) bool { return f.above(strings.NewReplacer("*", "", "?", "").Replace(path)) }
	parts := strings.Split(path, "/")
	base := parts[len(parts)-1]
	for i := 1; i < len(parts); i++ {
		dir := strings.Join(parts[:i], "/")
		if strings.ContainsAny(dir, "*?[") {
			return
		}
		if there(dir) {
			continue
		}
		if !f.comes(base) {
			f.missing = append(f.missing, piece{name: name, text: dir, severity: finding.Info})
		}
		return
	}
	m := piece{name: name, text: path}
	switch {
	case strings.ContainsAny(path, "*?["):
		m.severity = finding.Warn
	case f.above(path):
		return
	case !ofTemplates.MatchString(base) || f.isMade(base):
		m.severity = finding.Info
	}
	f.missing = append(f.missing, m)
}

// ofTemplates are names of files that a template comes with.
var ofTemplates = regexp.MustCompile(`(?i)\.(ps1|psm1|cmd|bat|vbs|xml|txt|ya?ml|json|ini|conf|reg|pkrtpl|tpl)$`)

// comes reports whether a file of this name lies elsewhere: something puts it into its place.
func (f *folder) comes(base string) bool {
	found := false
	_ = filepath.WalkDir(f.Dir, func(path string, d fs.DirEntry, err error) error {
		found = found || err == nil && !d.IsDir() && filepath.Base(path) == base
		return nil
	})
	return found
}

// isMade reports whether something beside the template makes a file of this name: it
// speaks of it, or has a form of it.
func (f *folder) isMade(base string) bool {
	for _, b := range f.Makes {
		if target, _ := f.Text(b.Body, "target"); filepath.Base(target) == base {
			return true
		}
	}
	for _, pattern := range []string{"[Mm]akefile", "justfile", "Taskfile.y*ml", "Rakefile", ".gitignore", "*.sh", "*.py"} {
		names, _ := filepath.Glob(filepath.Join(f.Dir, pattern))
		for _, name := range names {
			if data, err := expression.ReadAt(f.Dir, filepath.Base(name)); err == nil && strings.Contains(string(data), base) {
				return true
			}
		}
	}
	forms, _ := filepath.Glob(filepath.Join(f.Dir, "*", base+".*"))
	more, _ := filepath.Glob(filepath.Join(f.Dir, base+".*"))
	return len(forms)+len(more) > 0
}

// executed is what Windows runs of a file: all but comments, and of an answer
// file its commands.
func executed(name string, data []byte) string {
	if notation.IsAnswer(name, data) {
		return strings.Join(answer.Commands(data), "\n")
	}
	return string(notation.Stripped(name, data))
}

// environment is what a provisioner gives its scripts: an object, or a list of
// NAME=value.
func (f *folder) environment(b *hclsyntax.Body) map[string]string {
	env := map[string]string{}
	for _, name := range []string{"env", "environment_vars"} {
		a := b.Attributes[name]
		if a == nil {
			continue
		}
		for _, pair := range expression.Texts(f.Value(a.Expr)) {
			if key, value, ok := strings.Cut(pair, "="); ok && name == "environment_vars" {
				env[key] = value
			}
		}
		for _, o := range hclfolder.Objects(a.Expr) {
			for _, item := range o.Items {
				key, keyState := f.Scalar(item.KeyExpr)
				if value, st := f.Scalar(item.ValueExpr); st == known && keyState == known {
					env[key] = value
				}
			}
		}
	}
	return env
}

// pieces are the texts in an expression in their order, and in what it refers
// to. What isn't known of one is a gap in it.
func (f *folder) pieces(e hclsyntax.Expression, name string, seen map[string]bool) []piece {
	var out []piece
	all := func(name string, parts ...hclsyntax.Expression) {
		for _, part := range parts {
			out = append(out, f.pieces(part, name, seen)...)
		}
	}
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		for _, text := range expression.Texts(e.Val) {
			out = append(out, piece{name: name, text: text})
		}
	case *hclsyntax.TemplateExpr:
		out = append(out, f.filled(e, name))
		for _, part := range e.Parts {
			if _, literal := part.(*hclsyntax.LiteralValueExpr); !literal {
				before := len(out)
				all(name, part)
				for i := before; i < len(out); i++ {
					out[i].inner = true
				}
			}
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if key, st := f.Scalar(item.KeyExpr); st == known && notation.DialectOf(key) != notation.Plain {
				all(key, item.ValueExpr)
			} else {
				all(name, item.ValueExpr)
			}
		}
	case *hclsyntax.ScopeTraversalExpr:
		out = append(out, f.referred(e, name, seen)...)
	case *hclsyntax.TupleConsExpr:
		all(name, e.Exprs...)
	case *hclsyntax.FunctionCallExpr:
		f.wanted(e)
		all(name, e.Args...)
	case *hclsyntax.ConditionalExpr:
		all(name, e.TrueResult, e.FalseResult)
	case *hclsyntax.ForExpr:
		all(name, e.CollExpr, e.ValExpr)
	case *hclsyntax.TemplateWrapExpr:
		all(name, e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		all(name, e.Expression)
	case *hclsyntax.IndexExpr:
		all(name, e.Collection)
	case *hclsyntax.RelativeTraversalExpr:
		all(name, e.Source)
	case *hclsyntax.SplatExpr:
		all(name, e.Source)
	}
	return out
}

// referred are the texts of a variable's value, or of a local.
func (f *folder) referred(e *hclsyntax.ScopeTraversalExpr, name string, seen map[string]bool) []piece {
	root, of := e.Traversal.RootName(), expression.Name(e.Traversal)
	switch {
	case root == "local" && f.Locals[of] != nil && !seen[of]:
		seen[of] = true
		return f.pieces(f.Locals[of], name, seen)
	case root == "var":
		var out []piece
		for _, text := range expression.Texts(f.Value(e)) {
			out = append(out, piece{name: name, text: text})
		}
		return out
	}
	return nil
}

// filled is a template's text with its parts evaluated, and a placeholder for
// those that can't be.
func (f *folder) filled(e *hclsyntax.TemplateExpr, name string) piece {
	var b strings.Builder
	out := piece{name: name}
	if !expression.Fits(e, f.Context) {
		return piece{name: name, text: "${unknown}", partial: true}
	}
	for _, part := range e.Parts {
		text, st := f.Scalar(part)
		if st == unknown {
			text, out.partial = "${unknown}", true
		}
		b.WriteString(text)
	}
	out.text = b.String()
	return out
}

// wanted notes a file that a function reads and that isn't there: Packer stops
// at it. Of one that is there it notes the values that are known.
func (f *folder) wanted(e *hclsyntax.FunctionCallExpr) {
	if e.Name != "file" && e.Name != "templatefile" || len(e.Args) == 0 {
		return
	}
	path, st := f.Scalar(e.Args[0])
	if st != known {
		return
	}
	if len(e.Args) > 1 {
		values := map[string]string{}
		if v := f.Value(e.Args[1]); v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
			for it := v.ElementIterator(); it.Next(); {
				if key, value := it.Element(); key.Type() == cty.String && value.Type() == cty.String && value.IsKnown() && !value.IsNull() && value.AsString() != "" {
					values[key.AsString()] = value.AsString()
				}
			}
		}
		f.filling[filepath.ToSlash(filepath.Clean(strings.TrimPrefix(path, f.Dir+string(filepath.Separator))))] = values
	}
	if !strings.HasPrefix(path, f.Dir) {
		return
	}
	if _, err := expression.ReadAt(f.Dir, path); errors.Is(err, fs.ErrNotExist) {
		f.missing = append(f.missing, piece{name: e.Name, text: path})
	}
}
