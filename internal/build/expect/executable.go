package expect

import (
	"cmp"
	stdpe "debug/pe"
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/pe"
)

// How to build what a Windows node runs, for programs that no pin is known of.
const howToBuild = "build it with GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build"

// Executable says whether object is a sound program for a Windows node: its
// machine, subsystem, flags, and that nothing is appended to it. A program that
// isn't Go's is UNKNOWN: nothing can be said of what it was made of. One PASS
// is for a program without fault.
func Executable(object string, f *pe.File) []finding.Finding {
	fs := header(object, f)
	if f.Build == nil {
		fs = append(fs, notGo(object, f, finding.Unknown, "ask the one who built it, or pin it in versions.yaml and build it with bake"))
	}
	if finding.Worst(fs) <= finding.Info {
		fs = append(fs, finding.Finding{ID: "binary.pe", Object: object, Observed: "PE32+ amd64 console, Go program, " + f.Build.GoVersion})
	}
	return fs
}

// header applies the rules that need no build information.
func header(object string, f *pe.File) (fs []finding.Finding) {
	block := func(id, observed, expected, why, remedy string) {
		fs = append(fs, finding.Finding{ID: "binary.pe." + id, Severity: finding.Block, Object: object,
			Observed: observed, Expected: expected, Why: why, Remedy: remedy})
	}
	if !f.PE32Plus || f.Machine != stdpe.IMAGE_FILE_MACHINE_AMD64 {
		form := "PE32+"
		if !f.PE32Plus {
			form = "PE32"
		}
		block("arch", form+" "+cmp.Or(machines[f.Machine], fmt.Sprintf("machine %#04x", f.Machine)), "PE32+ amd64",
			"Windows Server nodes are amd64 and start nothing else, or only in an emulation that they don't install", howToBuild)
	}
	switch f.Subsystem {
	case stdpe.IMAGE_SUBSYSTEM_WINDOWS_CUI:
	case stdpe.IMAGE_SUBSYSTEM_WINDOWS_GUI:
		block("subsystem", "a GUI program (2)", "a console program (3)",
			"a GUI program has no standard output: its logs and its --version are lost, and scripts don't wait for it", "build it without -ldflags=-H=windowsgui")
	default:
		block("subsystem", fmt.Sprintf("subsystem %d", f.Subsystem), "a console program (3)", "Windows doesn't start it as a service or from a script", howToBuild)
	}
	if missing := flags(^f.DllCharacteristics); missing != "" {
		block("flags", "without "+missing, flags(^uint16(0)),
			"address space randomisation and data execution prevention are off for a service that runs as SYSTEM",
			howToBuild+", with Go 1.16 or later, and let no other tool rewrite the file")
	}
	if f.Overlay != 0 {
		block("overlay", fmt.Sprintf("%d bytes that belong to no part of the program", f.Overlay), "none",
			"the linker appends nothing: something was added after the build, and Windows ignores it in silence",
			"find out what was appended, and build the program again")
	}
	if f.TimeDateStamp != 0 {
		fs = append(fs, finding.Finding{
			ID: "binary.pe.timestamp", Severity: finding.Info, Object: object,
			Observed: time.Unix(int64(f.TimeDateStamp), 0).UTC().Format(time.RFC3339), Expected: "0",
			Why: "Go's own linker writes 0, so that the same sources give the same bytes: this is another linker's work (cgo), or was changed",
		})
	}
	return fs
}

var machines = map[uint16]string{
	stdpe.IMAGE_FILE_MACHINE_AMD64: "amd64", stdpe.IMAGE_FILE_MACHINE_I386: "386",
	stdpe.IMAGE_FILE_MACHINE_ARM64: "arm64", stdpe.IMAGE_FILE_MACHINE_ARMNT: "arm",
}

// flags names those of the set that every program for a node must have. Go's linker
// sets them since 1.16 (https://go.dev/doc/go1.16#windows: ASLR is the default).
func flags(set uint16) string {
	var names []string
	for _, f := range []struct {
		bit  uint16
		name string
	}{
		{stdpe.IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA, "HIGH_ENTROPY_VA"},
		{stdpe.IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE, "DYNAMIC_BASE"},
		{stdpe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT, "NX_COMPAT"},
	} {
		if set&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

// notGo is binary.go.missing at the severity that fits what is known of the
// program.
func notGo(object string, f *pe.File, s finding.Severity, remedy string) finding.Finding {
	observed := "no Go build information"
	if f.BuildErr != nil {
		observed += ": " + f.BuildErr.Error()
	}
	return finding.Finding{
		ID: "binary.go.missing", Severity: s, Object: object, Observed: observed, Expected: "a Go program",
		Why: "nothing says which sources and which toolchain it was made of", Remedy: remedy,
	}
}
