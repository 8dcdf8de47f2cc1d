package expect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/pe"
)

// File judges an .exe as it is read. p is nil where no pin is known.
func File(object string, r io.ReaderAt, size int64, p *Program) []finding.Finding {
	f, err := pe.Read(r, size)
	switch {
	case err != nil:
		return []finding.Finding{{
			ID: "binary.pe.unreadable", Severity: finding.Block, Object: object, Observed: err.Error(), Expected: "a Windows executable",
			Why: "Windows won't start it", Remedy: "bake it again: bake build --no-cache",
		}}
	case p != nil:
		return p.Check(object, f)
	}
	return Executable(object, f)
}

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
	for _, rule := range []func(*pe.File) []finding.Finding{p.origin, p.deps, p.settings, p.godebug, p.stamps} {
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
	return fmt.Sprintf("%s, %s %s, %s, %d stamps", f.Build.Path, f.Build.Main.Path, used(f.Build.Main).Version, plural(len(f.Build.Deps), "dependency", "dependencies"), len(p.Stamps))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// block is a difference that building the program again removes.
func (p *Program) block(id, observed, expected, why string) finding.Finding {
	return finding.Finding{ID: id, Severity: finding.Block, Observed: observed, Expected: expected, Why: why, Remedy: p.rebuild()}
}

func (p *Program) origin(f *pe.File) (fs []finding.Finding) {
	b := f.Build
	if p.GoVersion != "" && b.GoVersion != p.GoVersion {
		fs = append(fs, p.block("binary.go.version", b.GoVersion, p.GoVersion,
			"another toolchain brings another standard library, with its own behaviour and its own security holes"))
	}
	if p.Path != "" && b.Path != p.Path {
		fs = append(fs, p.block("binary.go.path", b.Path, p.Path, "it is another program than the pinned one"))
	}
	if want := module(p.Main); p.Main.Version != "" && !same(b.Main, want) {
		fs = append(fs, p.block("binary.go.main", describe(b.Main), describe(want), "it was built from other sources than the pinned ones"))
	}
	return fs
}

// module is a locked module as build information has it.
func module(m pins.LockedModule) debug.Module {
	d := debug.Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
	if m.Replace != nil {
		d.Replace = &debug.Module{Path: m.Replace.Path, Version: m.Replace.Version, Sum: m.Sum}
	}
	return d
}

// used returns the module whose source is compiled, which is the replacement
// if there is one. Build information has the sum there.
func used(m debug.Module) debug.Module {
	if m.Replace != nil {
		return *m.Replace
	}
	return m
}

// same says whether a module of the build information is the locked one. A
// lock without a sum (a vendored tree, a folder of the checkout) is compared by
// version.
func same(got, want debug.Module) bool {
	return name(got) == name(want) && (want.Sum == "" || used(got).Sum == want.Sum)
}

// name writes a module as `go version -m` does, without its sum. A local module has
// no version.
func name(m debug.Module) string {
	text := m.Path + " " + cmp.Or(m.Version, devel)
	if m.Replace != nil {
		text += " => " + name(*m.Replace)
	}
	return text
}

func describe(m debug.Module) string { return strings.TrimSuffix(name(m)+" "+used(m).Sum, " ") }

// maxDeps bounds the findings about dependencies: a program of another release
// differs in hundreds, and the first ones tell.
const maxDeps = 20

// deps compares the linked modules, in the order of their paths.
func (p *Program) deps(f *pe.File) []finding.Finding {
	got, want := map[string]debug.Module{}, map[string]debug.Module{}
	for _, d := range f.Build.Deps {
		got[d.Path] = *d
	}
	for _, m := range p.Modules {
		want[m.Path] = module(m)
	}
	all := maps.Clone(got)
	maps.Copy(all, want)
	var fs []finding.Finding
	for _, path := range slices.Sorted(maps.Keys(all)) {
		observed, linked := got[path]
		locked, known := want[path]
		switch {
		case !linked:
			fs = append(fs, p.block("binary.go.deps", path+" isn't linked", describe(locked),
				"the program was built without a module that the pinned sources need: from other sources, or with other tags"))
		case !known && !p.ownTree(observed):
			fs = append(fs, p.block("binary.go.deps", describe(observed), path+" isn't linked",
				"the program has code in it that the pinned sources don't bring"))
		case known && name(observed) != name(locked):
			fs = append(fs, p.block("binary.go.deps", describe(observed), describe(locked), "another version of a dependency was compiled in"))
		case known && !same(observed, locked):
			fs = append(fs, p.block("binary.go.deps", describe(observed), describe(locked),
				"the dependency's sources were changed: its version is right and its sum isn't"))
		}
	}
	if more := len(fs) - maxDeps; more > 0 {
		fs = append(fs[:maxDeps:maxDeps], p.block("binary.go.deps", fmt.Sprintf("%d more dependencies differ", more),
			plural(len(p.Modules), "dependency", "dependencies")+" as locked",
			"that many differences mean another release of the program, or a lock that isn't this build's"))
	}
	return fs
}

// ownTree says whether a module is part of the checkout that the program was
// built in, as a member of its go.work: the commit decides it, and the lock
// doesn't list it.
func (p *Program) ownTree(m debug.Module) bool {
	return p.Main.Version == devel && m.Version == devel && m.Replace == nil
}

// settingWhy says what goes wrong when a build setting differs.
var settingWhy = map[string]string{
	"CGO_ENABLED":  "cgo brings a C compiler and its libraries into the build: other bytes on another machine, and DLLs that a node may lack",
	"GOOS":         "it isn't a program for Windows",
	"GOARCH":       "it isn't a program for amd64",
	"GOAMD64":      "it uses instructions that older processors lack, and stops there at the first of them",
	"GOEXPERIMENT": "it was built with experimental features of the toolchain, which change how the program behaves",
	"GOFIPS140":    "it has another cryptographic module than the pinned one: a claim of FIPS 140-3 doesn't hold",
	"-buildmode":   "it isn't a plain executable",
	"-trimpath":    "it holds paths of the machine that built it, and nobody else gets the same bytes",
	"-tags":        "other build tags compile other source files",
}

const otherFlagsWhy = "flags that the pin doesn't name change what was compiled"

// settings compares the build settings, in the order of their names.
func (p *Program) settings(f *pe.File) []finding.Finding {
	var fs []finding.Finding
	for _, key := range slices.Sorted(maps.Keys(p.Settings)) {
		got, want := f.Setting(key), p.Settings[key]
		switch {
		case got == want:
			continue
		case key == "-gcflags" && got == "": // the same was compiled, and DWARF with it
			continue
		case key == "GOFIPS140" && want != "" && strings.HasPrefix(got, want+"-"): // the go command writes v1.0.0-c2097c7c for v1.0.0
			continue
		}
		fs = append(fs, p.block("binary.go.setting", setting(key, got), setting(key, want), cmp.Or(settingWhy[key], otherFlagsWhy)))
	}
	return fs
}

func setting(key, value string) string {
	if value == "" {
		return "no " + key
	}
	return key + "=" + value
}

// godebug compares the GODEBUG settings that the program starts with. Only the
// main module's go.mod decides them, and a build in another main module loses
// them in silence.
func (p *Program) godebug(f *pe.File) []finding.Finding {
	got := f.Setting("DefaultGODEBUG")
	if got == p.DefaultGODEBUG {
		return nil
	}
	why := "the program behaves as another Go release would make it: its go.mod's go and godebug lines, which it was tested with, aren't those that it runs under"
	if keep := ",winsymlink=0,"; strings.Contains(","+p.DefaultGODEBUG+",", keep) && !strings.Contains(","+got+",", keep) {
		why = "without winsymlink=0 a mounted volume is no symbolic link to Go's os package, and csi-proxy up to 1.3 answers with the wrong volume: https://github.com/kubernetes-csi/csi-proxy/issues/361"
	}
	fd := p.block("binary.go.godebug", setting("DefaultGODEBUG", got), setting("DefaultGODEBUG", p.DefaultGODEBUG), why)
	fd.Remedy = p.relock() + " && " + p.rebuild()
	return []finding.Finding{fd}
}

// The linker says nothing of a name that it doesn't find or may not set
// (https://pkg.go.dev/cmd/link, -X), so the value itself is the only proof. The
// version string alone proves nothing: it stands in the build information too.
const silentLinker = "the linker ignores a -X that is misspelt or names a variable that it can't set, in silence"

func (p *Program) stamps(f *pe.File) []finding.Finding {
	if len(p.Stamps) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(p.Stamps))
	return p.compareStamps(names, f.StringVars(names...))
}

func (p *Program) compareStamps(names []string, got map[string]pe.Var) (fs []finding.Finding) {
	for _, name := range names {
		if errors.Is(got[name].Err, pe.ErrNoSymbols) { // then none of them can be told
			fd := p.block("binary.stamp", "no symbol table (linked with -s)", "a symbol table with "+strings.Join(names, ", "),
				"whether the program knows its version can't be told: "+silentLinker)
			fd.Severity = finding.Unknown
			return []finding.Finding{fd}
		}
		if got[name] != (pe.Var{Value: p.Stamps[name]}) {
			fs = append(fs, p.stamp(name, got[name]))
		}
	}
	return fs
}

// stamp is about a variable that isn't right.
func (p *Program) stamp(name string, got pe.Var) finding.Finding {
	fd := p.block("binary.stamp", name+" = "+strconv.Quote(got.Value), name+" = "+strconv.Quote(p.Stamps[name]),
		"the program reports a wrong version of itself: "+silentLinker)
	switch {
	case errors.Is(got.Err, pe.ErrNoSymbol):
		fd.Observed = "there is no variable " + name
		fd.Remedy = "correct the name under stamp: of " + p.Component + " in versions.yaml, then " + p.relock()
	case errors.Is(got.Err, pe.ErrDamaged):
		fd.Observed = got.Err.Error()
	case got.Err != nil:
		fd.Severity, fd.Observed = finding.Unknown, got.Err.Error()
		fd.Why = "the variable couldn't be read"
	}
	return fd
}
