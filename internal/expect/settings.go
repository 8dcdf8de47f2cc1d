package expect

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/pe"
)

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
		if got == want || key == "GOFIPS140" && fipsAlias(got, want) || key == "-gcflags" && got == "" {
			continue // without -gcflags the same was compiled, and DWARF with it
		}
		fs = append(fs, p.block("binary.go.setting", setting(key, got), setting(key, want), cmp.Or(settingWhy[key], otherFlagsWhy)))
	}
	return fs
}

// fipsAlias says whether got is the full name of the module version want: the
// go command writes v1.0.0-c2097c7c for v1.0.0.
func fipsAlias(got, want string) bool {
	return want != "" && strings.HasPrefix(got, want+"-")
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
