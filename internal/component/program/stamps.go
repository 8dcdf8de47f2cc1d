package program

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source/gomod"
)

// checkStamps makes sure that the linker will set each stamped variable. It
// sets string variables that have no initialiser or a constant one, and says
// nothing of any other (go tool link -X, https://pkg.go.dev/cmd/link).
func checkStamps(c *pins.Component, linked *gomod.Linked) error {
	for _, name := range slices.Sorted(maps.Keys(c.Stamp)) {
		pkg, variable := splitVariable(name)
		if pkg == "main" {
			pkg = linked.Main
		}
		dir, ok := linked.Packages[pkg]
		if !ok {
			return stampFault(c, name, fmt.Sprintf("the program doesn't link package %s", pkg))
		}
		if why := stampable(dir, variable, c.Tags); why != "" {
			return stampFault(c, name, why)
		}
	}
	return nil
}

func stampFault(c *pins.Component, name, why string) error {
	return &fault.Error{Where: c.Name, What: fmt.Sprintf("stamp %s would be ignored: %s", name, why),
		Fix: "name a string variable of the program that has no initialiser or a constant one, or take the stamp out of versions.yaml"}
}

func splitVariable(name string) (pkg, variable string) {
	i := strings.LastIndex(name, ".")
	return name[:max(i, 0)], name[i+1:]
}

// stampable says why the linker wouldn't set a variable of the package in
// dir; "" if it will.
func stampable(dir, variable string, tags []string) string {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled, ctx.BuildTags = "windows", "amd64", false, tags
	p, err := ctx.ImportDir(dir, 0)
	if err != nil {
		return "its package can't be read: " + err.Error()
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return "its package can't be read: " + err.Error()
		}
		files = append(files, f)
	}
	spec, i := findSpec(files, token.VAR, variable)
	if spec == nil {
		return "package " + p.Name + " has no such variable for windows/amd64"
	}
	if t, ok := spec.Type.(*ast.Ident); spec.Type != nil && (!ok || t.Name != "string") {
		return "the variable isn't a string"
	}
	if spec.Type == nil && len(spec.Values) == 0 || len(spec.Values) > 0 && (i >= len(spec.Values) || !constant(files, spec.Values[i])) {
		return "the variable's initial value isn't a constant string"
	}
	return ""
}

func findSpec(files []*ast.File, kind token.Token, name string) (*ast.ValueSpec, int) {
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != kind {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec) // the only spec of var and const
				if i := slices.IndexFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name }); i >= 0 {
					return v, i
				}
			}
		}
	}
	return nil, 0
}

func constant(files []*ast.File, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.ParenExpr:
		return constant(files, e.X)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && constant(files, e.X) && constant(files, e.Y)
	case *ast.Ident:
		spec, i := findSpec(files, token.CONST, e.Name)
		return spec != nil && i < len(spec.Values) && constant(files, spec.Values[i])
	}
	return false
}
