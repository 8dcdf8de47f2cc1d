package expect

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/pe"
	"github.com/winbake/winbake/internal/pins"
)

// Check is Executable and Compare together, with one PASS and with one word
// about a program that isn't Go's.
func (p *Program) Check(object string, f *pe.File) []finding.Finding {
	fs := header(object, f)
	for _, fd := range p.Compare(object, f) {
		if fd.Severity == finding.Pass && finding.Worst(fs) > finding.Info {
			continue
		}
		fs = append(fs, fd)
	}
	return fs
}

// Compare says where object isn't what is pinned: toolchain, main package and
// module, dependencies, settings, GODEBUG, stamps. One PASS stands for a
// program that is.
func (p *Program) Compare(object string, f *pe.File) []finding.Finding {
	if f.Build == nil {
		return []finding.Finding{notGo(object, f, finding.Block, p.rebuild())}
	}
	var fs []finding.Finding
	for _, rule := range []func(*pe.File) []finding.Finding{p.goVersion, p.path, p.mainModule, p.deps, p.settings, p.godebug, p.stamps} {
		fs = append(fs, rule(f)...)
	}
	if len(fs) == 0 {
		fs = append(fs, finding.Finding{ID: "binary.pin", Observed: p.summary(f)})
	}
	for i := range fs {
		fs[i].Object = object
	}
	return fs
}

func (p *Program) summary(f *pe.File) string {
	main, _ := used(f.Build.Main)
	return fmt.Sprintf("%s, %s %s, %s, %d stamps", f.Build.Path, f.Build.Main.Path, main.Version, plural(len(f.Build.Deps), "dependency", "dependencies"), len(p.Stamps))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (p *Program) goVersion(f *pe.File) []finding.Finding {
	if p.GoVersion == "" || f.Build.GoVersion == p.GoVersion {
		return nil
	}
	return []finding.Finding{{
		ID: "binary.go.version", Severity: finding.Block, Observed: f.Build.GoVersion, Expected: p.GoVersion,
		Why:    "another toolchain brings another standard library, with its own behaviour and its own security holes",
		Remedy: p.rebuild(),
	}}
}

func (p *Program) path(f *pe.File) []finding.Finding {
	if p.Path == "" || f.Build.Path == p.Path {
		return nil
	}
	return []finding.Finding{{
		ID: "binary.go.path", Severity: finding.Block, Observed: f.Build.Path, Expected: p.Path,
		Why:    "it is another program than the pinned one",
		Remedy: p.rebuild(),
	}}
}

func (p *Program) mainModule(f *pe.File) []finding.Finding {
	got, want := f.Build.Main, p.Main
	if want.Version == "" || same(got, want) {
		return nil
	}
	return []finding.Finding{{
		ID: "binary.go.main", Severity: finding.Block, Observed: describe(got), Expected: describeLocked(want),
		Why:    "it was built from other sources than the pinned ones",
		Remedy: p.rebuild(),
	}}
}

// used returns the module whose source is compiled, which is the replacement
// if there is one. Build information has the sum there.
func used(m debug.Module) (_ debug.Module, replaced bool) {
	if m.Replace != nil {
		return *m.Replace, true
	}
	return m, false
}

// same says whether a module of the build information is the locked one. A
// lock without a sum (a vendored tree, a folder of the checkout) is compared by
// version.
func same(got debug.Module, want pins.LockedModule) bool {
	source, replaced := used(got)
	if got.Path != want.Path || version(got.Version) != version(want.Version) || replaced != (want.Replace != nil) {
		return false
	}
	if replaced && (source.Path != want.Replace.Path || version(source.Version) != version(want.Replace.Version)) {
		return false
	}
	return want.Sum == "" || source.Sum == want.Sum
}

// version spells the missing version of a local module as build information
// does.
func version(v string) string {
	if v == "" {
		return devel
	}
	return v
}

// describe writes a module as `go version -m` does.
func describe(m debug.Module) string {
	text := m.Path + " " + version(m.Version)
	source, replaced := used(m)
	if replaced {
		text += " => " + source.Path + " " + version(source.Version)
	}
	return strings.TrimSuffix(text+" "+source.Sum, " ")
}

func describeLocked(m pins.LockedModule) string {
	d := debug.Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
	if m.Replace != nil {
		d.Replace = &debug.Module{Path: m.Replace.Path, Version: m.Replace.Version, Sum: m.Sum}
	}
	return describe(d)
}

// maxDeps bounds the findings about dependencies: a program of another release
// differs in hundreds, and the first ones tell.
const maxDeps = 20

// deps compares the linked modules, in the order of their paths.
func (p *Program) deps(f *pe.File) []finding.Finding {
	got, want := map[string]debug.Module{}, map[string]pins.LockedModule{}
	for _, d := range f.Build.Deps {
		got[d.Path] = *d
	}
	for _, m := range p.Modules {
		want[m.Path] = m
	}
	paths := slices.Collect(maps.Keys(want))
	for path := range got {
		if _, ok := want[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var fs []finding.Finding
	for _, path := range paths {
		observed, linked := got[path]
		locked, known := want[path]
		if fd := p.dep(observed, linked, locked, known); fd != nil {
			fs = append(fs, *fd)
		}
	}
	return p.capped(fs)
}

// dep compares one module; nil when it is as locked.
func (p *Program) dep(got debug.Module, linked bool, want pins.LockedModule, known bool) *finding.Finding {
	fd := &finding.Finding{ID: "binary.go.deps", Severity: finding.Block, Remedy: p.rebuild()}
	switch {
	case !linked:
		fd.Observed, fd.Expected = want.Path+" isn't linked", describeLocked(want)
		fd.Why = "the program was built without a module that the pinned sources need: from other sources, or with other tags"
	case !known && p.ownTree(got):
		return nil
	case !known:
		fd.Observed, fd.Expected = describe(got), got.Path+" isn't linked"
		fd.Why = "the program has code in it that the pinned sources don't bring"
	case same(got, want):
		return nil
	default:
		fd.Observed, fd.Expected = describe(got), describeLocked(want)
		fd.Why = "another version of a dependency was compiled in"
		if sameButSum(got, want) {
			fd.Why = "the dependency's sources were changed: its version is right and its sum isn't"
		}
	}
	return fd
}

// ownTree says whether a module is part of the checkout that the program was
// built in, as a member of its go.work: the commit decides it, and the lock
// doesn't list it.
func (p *Program) ownTree(m debug.Module) bool {
	return p.Main.Version == devel && m.Version == devel && m.Replace == nil
}

func sameButSum(got debug.Module, want pins.LockedModule) bool {
	want.Sum = ""
	return same(got, want)
}

func (p *Program) capped(fs []finding.Finding) []finding.Finding {
	if len(fs) <= maxDeps {
		return fs
	}
	more := len(fs) - maxDeps
	return append(fs[:maxDeps:maxDeps], finding.Finding{
		ID: "binary.go.deps", Severity: finding.Block,
		Observed: fmt.Sprintf("%d more dependencies differ", more), Expected: plural(len(p.Modules), "dependency", "dependencies") + " as locked",
		Why:    "that many differences mean another release of the program, or a lock that isn't this build's",
		Remedy: p.rebuild(),
	})
}
