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
	compared := p.Compare(object, f)
	if compared[0].Severity == finding.Pass && finding.Worst(fs) > finding.Info {
		return fs
	}
	return append(fs, compared...)
}

// Compare says where object isn't what is pinned: toolchain, main package and
// module, dependencies, settings, GODEBUG, stamps. One PASS is for a program
// that is.
func (p *Program) Compare(object string, f *pe.File) []finding.Finding {
	if f.Build == nil {
		return []finding.Finding{notGo(object, f, finding.Block, p.rebuild())}
	}
	fs := slices.Concat(p.origin(f.Build), p.deps(f.Build), p.settings(f), p.stamps(f))
	if len(fs) == 0 {
		fs = append(fs, finding.Finding{ID: "binary.pin", Observed: fmt.Sprintf("%s, %s, %s, %d stamps",
			f.Build.Path, name(f.Build.Main), dependencies(len(f.Build.Deps)), len(p.Stamps))})
	}
	for i := range fs {
		fs[i].Object = object
	}
	return fs
}

func dependencies(n int) string {
	if n == 1 {
		return "1 dependency"
	}
	return fmt.Sprintf("%d dependencies", n)
}

// block is a difference that building the program again removes.
func (p *Program) block(id, observed, expected, why string) finding.Finding {
	return finding.Finding{ID: id, Severity: finding.Block, Observed: observed, Expected: expected, Why: why, Remedy: p.rebuild()}
}

func (p *Program) origin(b *debug.BuildInfo) (fs []finding.Finding) {
	if p.GoVersion != "" && b.GoVersion != p.GoVersion {
		fs = append(fs, p.block("binary.go.version", b.GoVersion, p.GoVersion,
			"another toolchain brings another standard library, with its own behaviour and its own security holes"))
	}
	if p.Path != "" && b.Path != p.Path {
		fs = append(fs, p.block("binary.go.path", b.Path, p.Path, "it is another program than the pinned one"))
	}
	if p.Main.Version != "" && !same(b.Main, p.Main) {
		fs = append(fs, p.block("binary.go.main", describe(b.Main), describe(p.Main), "it was built from other sources than the pinned ones"))
	}
	return fs
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
	return name(got) == name(want) && (used(want).Sum == "" || used(got).Sum == used(want).Sum)
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

// deps compares the linked modules.
func (p *Program) deps(b *debug.BuildInfo) (fs []finding.Finding) {
	left := map[string]debug.Module{}
	for _, m := range p.Modules {
		left[m.Path] = *m
	}
	for _, m := range b.Deps {
		want, locked := left[m.Path]
		delete(left, m.Path)
		switch {
		case !locked && !p.ownTree(*m):
			fs = append(fs, p.block("binary.go.deps", describe(*m), m.Path+" isn't linked", "the program has code in it that the pinned sources don't bring"))
		case locked && name(*m) != name(want):
			fs = append(fs, p.block("binary.go.deps", describe(*m), describe(want), "another version of a dependency was compiled in"))
		case locked && !same(*m, want):
			fs = append(fs, p.block("binary.go.deps", describe(*m), describe(want), "the dependency's sources were changed: its version is right and its sum isn't"))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(left)) {
		fs = append(fs, p.block("binary.go.deps", path+" isn't linked", describe(left[path]),
			"the program was built without a module that the pinned sources need: from other sources, or with other tags"))
	}
	if more := len(fs) - maxDeps; more > 0 {
		fs = append(fs[:maxDeps:maxDeps], p.block("binary.go.deps", fmt.Sprintf("%d more dependencies differ", more),
			dependencies(len(p.Modules))+" as locked",
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
	"GOAMD64":      "it uses instructions that older processors lack, and stops there at the first of them",
	"GOEXPERIMENT": "it was built with experimental features of the toolchain, which change how the program behaves",
	"GOFIPS140":    "it has another cryptographic module than the pinned one: a claim of FIPS 140-3 doesn't hold",
	"-trimpath":    "it holds paths of the machine that built it, and nobody else gets the same bytes",
}

// settings compares the build settings, in the order of their names, and the
// GODEBUG settings that the program starts with.
func (p *Program) settings(f *pe.File) (fs []finding.Finding) {
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
		fs = append(fs, p.block("binary.go.setting", setting(key, got), setting(key, want), cmp.Or(settingWhy[key], "settings and flags that the pin doesn't name change what was compiled")))
	}
	if got := f.Setting("DefaultGODEBUG"); got != p.DefaultGODEBUG {
		fs = append(fs, p.godebug(got))
	}
	return fs
}

func setting(key, value string) string {
	if value == "" {
		return "no " + key
	}
	return key + "=" + value
}

// godebug is about GODEBUG settings that differ. Only the main module's go.mod
// decides them, and a build in another main module loses them in silence.
func (p *Program) godebug(got string) finding.Finding {
	why := "the program behaves as another Go release would make it: its go.mod's go and godebug lines, which it was tested with, aren't those that it runs under"
	if keep := ",winsymlink=0,"; strings.Contains(","+p.DefaultGODEBUG+",", keep) && !strings.Contains(","+got+",", keep) {
		why = "without winsymlink=0 a mounted volume is no symbolic link to Go's os package, and csi-proxy up to 1.3 answers with the wrong volume: https://github.com/kubernetes-csi/csi-proxy/issues/361"
	}
	fd := p.block("binary.go.godebug", setting("DefaultGODEBUG", got), setting("DefaultGODEBUG", p.DefaultGODEBUG), why)
	fd.Remedy = p.relock() + " && " + p.rebuild()
	return fd
}

// The linker says nothing of a name that it doesn't find or may not set
// (https://pkg.go.dev/cmd/link, -X), so the value itself is the only proof. The
// version string alone proves nothing: it is in the build information too.
const silentLinker = "the linker ignores a -X that is misspelt or names a variable that it can't set, in silence"

func (p *Program) stamps(f *pe.File) []finding.Finding {
	names := slices.Sorted(maps.Keys(p.Stamps))
	if len(names) == 0 {
		return nil
	}
	return p.compareStamps(names, f.StringVars(names...))
}

func (p *Program) compareStamps(names []string, got map[string]pe.Var) (fs []finding.Finding) {
	for _, name := range names {
		want := name + " = " + strconv.Quote(p.Stamps[name])
		fd := p.block("binary.stamp", name+" = "+strconv.Quote(got[name].Value), want, "the program reports a wrong version of itself: "+silentLinker)
		switch err := got[name].Err; {
		case errors.Is(err, pe.ErrNoSymbols): // then none of them can be told
			fd.Severity, fd.Observed, fd.Expected = finding.Unknown, "no symbol table (linked with -s)", "a symbol table with "+strings.Join(names, ", ")
			fd.Why = "whether the program knows its version can't be told: " + silentLinker
			return []finding.Finding{fd}
		case errors.Is(err, pe.ErrNoSymbol):
			fd.Observed = "there is no variable " + name
			fd.Remedy = "correct the name under stamp: of " + p.Component + " in versions.yaml, then " + p.relock()
		case err != nil:
			fd.Observed = err.Error()
		case got[name].Value == p.Stamps[name]:
			continue
		}
		fs = append(fs, fd)
	}
	return fs
}
