package lint

import (
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/winbake/winbake/packer/answer"
)

// Attributes of sources and provisioners whose values come to run. Those that
// are paths don't by their own words: the file that they name does.
var (
	pathAttribute = regexp.MustCompile(`(scripts?|sources?|_files?|_dirs?|_directory|_paths?)$`)
	textAttribute = regexp.MustCompile(`(inline|command|content|user_data|custom_data|metadata|override|search_criteria|filters)$|^env`)
)

// piece is text that the HCL itself has, under the name that tells its language.
type piece struct{ name, text string }

// inlineNames are for text that has no name of its own in a provisioner.
var inlineNames = map[string]string{"powershell": "inline.ps1", "windows-shell": "inline.cmd"}

// execute collects what a block of the template has executed, and reads the
// files that it names for that.
func (f *folder) execute(b *hclsyntax.Body, name string) {
	for _, attribute := range sortedKeys(b.Attributes) {
		isPath := pathAttribute.MatchString(attribute)
		if !isPath && !textAttribute.MatchString(attribute) {
			continue
		}
		own := name
		if attribute == "content" {
			own, _ = f.text(b, "destination")
		}
		if isPath { // what functions make of paths
			for _, path := range texts(f.value(b.Attributes[attribute].Expr)) {
				f.take(path)
			}
		}
		joined := map[string]string{} // by name: a comment may span the lines of a list
		for _, p := range f.pieces(b.Attributes[attribute].Expr, own, map[string]bool{}) {
			if named := f.take(p.text); !named && isPath {
				f.mentions = append(f.mentions, p.text)
			} else if !named {
				joined[p.name] += p.text + "\n"
			}
		}
		for _, name := range sortedKeys(joined) {
			f.steps = append(f.steps, piece{name, executed(name, []byte(joined[name]))})
		}
	}
	for _, inner := range b.Blocks {
		f.execute(inner.Body, name)
	}
}

// executed is what Windows runs of a file: all but comments, and of an answer
// file its commands.
func executed(name string, data []byte) string {
	if isAnswer(name, data) {
		return strings.Join(answer.Commands(data), "\n")
	}
	return string(stripped(name, data))
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
		for _, text := range texts(e.Val) {
			out = append(out, piece{name, text})
		}
	case *hclsyntax.TemplateExpr:
		out = append(out, piece{name, f.filled(e)})
		for _, part := range e.Parts {
			if _, literal := part.(*hclsyntax.LiteralValueExpr); !literal {
				all(name, part)
			}
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if key, st := f.scalar(item.KeyExpr); st == known && dialectOf(key) != plain {
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
	root, of := e.Traversal.RootName(), traversed(e.Traversal)
	switch {
	case root == "local" && f.locals[of] != nil && !seen[of]:
		seen[of] = true
		return f.pieces(f.locals[of], name, seen)
	case root == "var":
		var out []piece
		for _, text := range texts(f.value(e)) {
			out = append(out, piece{name, text})
		}
		return out
	}
	return nil
}

// filled is a template's text with its parts evaluated, and a placeholder for
// those that can't be.
func (f *folder) filled(e *hclsyntax.TemplateExpr) string {
	var b strings.Builder
	for _, part := range e.Parts {
		text, st := f.scalar(part)
		if st == unknown {
			text = "${unknown}"
		}
		b.WriteString(text)
	}
	return b.String()
}
