package expect

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/pe"
	"github.com/winbake/winbake/internal/pins"
)

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
