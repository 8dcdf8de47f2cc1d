package imports

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// mostLines is what a package may have, without its tests.
const mostLines = 3000

// TestFilesOfPackages: no package is so long that nobody reads it, and none is a
// knot: fewer than half of its files lead to each other and back.
func TestFilesOfPackages(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Dir: "../..", Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports},
		"./cmd/...", "./internal/...", "./packer/...", "./payload/...")
	if err != nil || len(loaded) < 50 {
		t.Fatalf("%d packages: %v", len(loaded), err)
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Errorf("%s: %v", p.PkgPath, p.Errors[0])
		}
		lines := 0
		for _, f := range p.Syntax {
			lines += p.Fset.Position(f.FileEnd).Line
		}
		if lines > mostLines {
			t.Errorf("%s has %d lines, more than %d", p.PkgPath, lines, mostLines)
		}
		if circle := largestCircle(uses(p)); len(circle) > 1 && 2*len(circle) > len(p.Syntax) {
			slices.Sort(circle)
			t.Errorf("%s: %d of %d files lead to each other: %v", p.PkgPath, len(circle), len(p.Syntax), circle)
		}
	}
}

// uses tells, for each file of a package, the others of which it names something:
// a type, a function, a method, a variable or a constant.
func uses(p *packages.Package) map[string][]string {
	file := func(n interface{ Pos() token.Pos }) string { return filepath.Base(p.Fset.Position(n.Pos()).Filename) }
	all := map[string][]string{}
	for _, f := range p.Syntax {
		from := file(f)
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := p.TypesInfo.Uses[id]
			if fn, ok := o.(*types.Func); ok {
				o = fn.Origin()
			}
			if o == nil || o.Pkg() != p.Types {
				return true
			}
			fn, method := o.(*types.Func)
			if o.Parent() != p.Types.Scope() && !(method && fn.Signature().Recv() != nil) {
				return true // a field, or what is local
			}
			if to := file(o); to != from && !slices.Contains(all[from], to) {
				all[from] = append(all[from], to)
			}
			return true
		})
	}
	return all
}

// largestCircle is the largest set of files that all reach each other.
func largestCircle(uses map[string][]string) []string {
	reach := map[string]map[string]bool{}
	for from := range uses {
		seen, next := map[string]bool{}, slices.Clone(uses[from])
		for len(next) > 0 {
			to := next[0]
			next = next[1:]
			if !seen[to] {
				seen[to] = true
				next = append(next, uses[to]...)
			}
		}
		reach[from] = seen
	}
	var largest []string
	for a := range reach {
		var circle []string
		for b := range reach {
			if reach[a][b] && reach[b][a] {
				circle = append(circle, b)
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	return largest
}
