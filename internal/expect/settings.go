package expect

import (
	"maps"
	"slices"
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
		why, ok := settingWhy[key]
		if !ok {
			why = otherFlagsWhy
		}
		fs = append(fs, finding.Finding{
			ID: "binary.go.setting", Severity: finding.Block,
			Observed: setting(key, got), Expected: setting(key, want), Why: why, Remedy: p.rebuild(),
		})
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
	if strings.Contains(","+p.DefaultGODEBUG+",", ",winsymlink=0,") && f.Godebug()["winsymlink"] != "0" {
		why = "without winsymlink=0 a mounted volume is no symbolic link to Go's os package, and csi-proxy up to 1.3 answers with the wrong volume: https://github.com/kubernetes-csi/csi-proxy/issues/361"
	}
	return []finding.Finding{{
		ID: "binary.go.godebug", Severity: finding.Block,
		Observed: setting("DefaultGODEBUG", got), Expected: setting("DefaultGODEBUG", p.DefaultGODEBUG),
		Why: why, Remedy: p.relock() + " && " + p.rebuild(),
	}}
}
