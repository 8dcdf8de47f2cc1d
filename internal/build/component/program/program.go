// Package program describes a program for its lock, whichever kind of
// component it is: what it links, of which licences, and which of its
// variables the linker can stamp.
package program

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
	"golang.org/x/mod/modfile"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/build/source/gomod"
	"github.com/winbake/winbake/internal/build/target"
)

// Describe asks what the program in w is made of, and gives its lock, which locked begins,
// with the files that a build needs.
func Describe(ctx context.Context, env *source.Env, p source.Pin, w *source.Workspace, locked *pins.Locked) (*gomod.Linked, *source.Result, error) {
	linked, err := gomod.List(ctx, w.Query(env.Host.Tool(p.Toolchain(p.File)), p.Component))
	if err != nil {
		return nil, nil, Failure(p.Component, err)
	}
	if err := errors.Join(checkStamps(p.Component, linked), checkEmbedded(p, linked)); err != nil {
		return nil, nil, err
	}
	if err := mainLines(w.GoMod, locked); err != nil {
		return nil, nil, err
	}
	locked.Toolchain = p.Toolchain(p.File)
	locked.ToolchainSums = toolchainSums(ctx, env, p)
	locked.DefaultGODEBUG = linked.DefaultGODEBUG
	locked.Vendored = w.Vendored()
	locked.APIGroups = apiGroups(linked)
	result := &source.Result{Locked: locked, Texts: pins.LicenseTexts{}}
	if err := licensed(ctx, env.Host.Tool(locked.Toolchain), w, linked, result); err != nil {
		return nil, nil, err
	}
	if _, err := p.Stamps(locked, ""); err != nil {
		return nil, nil, err
	}
	if !w.Vendored() {
		locked.GoMod, locked.GoSum = sum(w.GoMod), sum(w.GoSum)
		result.GoMod, result.GoSum = w.GoMod, w.GoSum
	}
	return linked, result, nil
}

// toolchainSums are those of the lock where it has the toolchain, else the checksum
// database's.
func toolchainSums(ctx context.Context, env *source.Env, p source.Pin) []string {
	name := p.Toolchain(p.File)
	for n, l := range env.Lock.Components {
		if l.Toolchain == name && len(l.ToolchainSums) > 0 && l.Intact(n) {
			return l.ToolchainSums
		}
	}
	tool := env.Host.Tool(name)
	sums, _ := tool.Once("sums of "+name, func() (string, error) {
		sums, err := gomod.ToolchainSums(ctx, tool)
		if err != nil {
			env.Events.Emit(event.Event{Object: p.Name, Phase: event.Resolve, State: event.Warning,
				Message: name + " is known by its name alone: " + fault.FirstLine(err)})
		}
		return strings.Join(sums, "\n"), nil
	})
	return strings.FieldsFunc(sums, func(r rune) bool { return r == '\n' })
}

// apiGroups lists csi-proxy's API groups that a program links: the service itself
// those that it serves, a driver those that it dials.
func apiGroups(linked *gomod.Linked) []string {
	var groups []string
	for pkg := range linked.Packages {
		if group, ok := strings.CutPrefix(pkg, "github.com/kubernetes-csi/csi-proxy/client/api/"); ok && strings.Count(group, "/") == 1 {
			groups = append(groups, strings.ReplaceAll(group, "/", " "))
		}
	}
	slices.Sort(groups)
	return groups
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// checkEmbedded refuses a Git LFS pointer among the files that a program embeds.
func checkEmbedded(p source.Pin, linked *gomod.Linked) error {
	for _, name := range linked.Embedded {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = gitsrc.RefusePointer(f, p.Name, filepath.Base(name))
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// cures are what to do about what the go command says.
var cures = []struct {
	says *regexp.Regexp
	fix  string
}{
	{regexp.MustCompile(`requires go >= ([0-9.]+)`), `set go: "$1" in versions.yaml, or a newer one`},
	{regexp.MustCompile(`inconsistent vendoring`), "pin another commit: the vendor folder of this one doesn't fit its go.mod"},
	{regexp.MustCompile(`replacement directory (\S+) does not exist|reading (\S+/go\.mod): open [^:]*: no such file or directory`), "pin the repository with git: and commit:, and submodules: true where the folder is a submodule: a module's go.mod may not replace by a folder"},
	{regexp.MustCompile(`missing go.sum entry`), "pin a commit whose go.sum is whole (go mod tidy changes nothing there); a go.work counts only with the vendor folder of go work vendor"},
	{regexp.MustCompile(`expected 'package', found version`), "pin a commit that has the files' content: one of them is a Git LFS pointer"},
	{regexp.MustCompile(`import "C"|runtime/cgo`), "pin a version that compiles with CGO_ENABLED=0: Windows programs are compiled without cgo"},
	{regexp.MustCompile(`build constraints exclude all Go files`), "pin a version or commit whose package compiles for Windows without cgo"},
	{regexp.MustCompile(`no required module provides package|cannot find module providing package|no Go files in|directory .* (?:outside|not found)`), "check package: and dir:; set submodules: true where the package is in a submodule"},
}

// Failure makes go's own words readable as the answer to "why not".
func Failure(c *pins.Component, err error) error {
	f, ok := errors.AsType[*gotool.Failure](err)
	if !ok {
		return err
	}
	fix := "check package: and the version, and that GOPROXY has every module of it"
	for _, cure := range cures {
		if m := cure.says.FindStringSubmatchIndex(f.Message); m != nil {
			fix = string(cure.says.ExpandString(nil, cure.fix, f.Message, m))
			break
		}
	}
	return &fault.Error{Where: c.Name, What: "its packages can't be resolved", Excerpt: f.Message, Err: err, Fix: fix}
}

// mainLines notes what the main module says of Go and GODEBUG.
func mainLines(main []byte, locked *pins.Locked) error {
	var godebug []*modfile.Godebug
	if f, err := modfile.Parse("go.mod", main, nil); err == nil {
		locked.GoLine, godebug = goLine(f.Go), f.Godebug
	} else if w, workErr := modfile.ParseWork("go.work", main, nil); workErr == nil {
		locked.GoLine, godebug = goLine(w.Go), w.Godebug
	} else {
		return fmt.Errorf("read the main module: %w", err)
	}
	for _, g := range godebug {
		locked.Godebug = append(locked.Godebug, g.Key+"="+g.Value)
	}
	slices.Sort(locked.Godebug)
	return nil
}

func goLine(g *modfile.Go) string {
	if g == nil {
		return gomod.NoGoLine
	}
	return g.Version
}

// noLicense is SPDX's word for "nothing was found that says"
// (https://spdx.github.io/spdx-spec/v2.3/package-information/).
const noLicense = "NOASSERTION"

// licensed notes the toolchain's licence texts, and each linked module with its sum,
// licences and their texts.
func licensed(ctx context.Context, tool *gotool.Tool, w *source.Workspace, linked *gomod.Linked, result *source.Result) error {
	root, err := tool.Root(ctx)
	if err != nil {
		return err
	}
	locked := result.Locked
	_, locked.ToolchainTexts = Licenses(root, result.Texts)
	sums := gomod.ParseSums(w.GoSum)
	for _, m := range linked.Modules {
		if ctx.Err() != nil { // licences take seconds
			return context.Cause(ctx)
		}
		used := m.Used()
		lm := pins.LockedModule{Path: m.Path, Version: m.Version}
		if m.Replace != nil {
			lm.Replace = &pins.ModuleVersion{Path: m.Replace.Path, Version: m.Replace.Version}
		}
		if !w.Vendored() && !m.Local() {
			if lm.Sum = sums.Of(used.Path, used.Version); lm.Sum == "" {
				return fmt.Errorf("go.sum has no sum for %s %s", used.Path, used.Version)
			}
		}
		dir := cmp.Or(used.Dir, m.Dir)
		if dir == "" || w.Vendored() {
			dir = filepath.Join(w.Dir, "vendor", filepath.FromSlash(m.Path))
		}
		lm.Licenses, lm.Texts = Licenses(dir, result.Texts)
		locked.Modules = append(locked.Modules, lm)
	}
	return nil
}

var (
	// licenseName are the names of files with a licence at the top of a module, and
	// noticeName those with what it may ask to be passed on too.
	licenseName = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|UNLICENSE|MIT-LICENSE)`)
	noticeName  = regexp.MustCompile(`(?i)^(NOTICE|PATENTS)`)
)

// Licenses returns the SPDX identifiers of the licence texts at the top of a module, and
// the ids of the texts, both sorted. It reads texts, not claims: a README that names a
// licence counts for nothing.
func Licenses(dir string, all pins.LicenseTexts) (ids, texts []string) {
	entries, _ := os.ReadDir(dir) // a folder that isn't there has no licence
	for _, e := range entries {
		license := licenseName.MatchString(e.Name())
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) == ".go" || !license && !noticeName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		texts = append(texts, all.Add(text))
		if !license {
			continue
		}
		for _, m := range licensecheck.Scan(text).Match {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		ids = []string{noLicense}
	}
	return sorted(ids), sorted(texts)
}

func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

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
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled, ctx.BuildTags = target.Windows.OS, target.Windows.Arch, false, tags
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
