package expect

import (
	stdpe "debug/pe"
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/pe"
)

// The flags that every program for a node must have. Go's linker sets them
// since 1.16 (https://go.dev/doc/go1.16#windows: ASLR is the default).
const wantFlags = stdpe.IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA |
	stdpe.IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE | stdpe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT

// How to build what a Windows node runs, for programs that no pin is known of.
const howToBuild = "build it with GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build"

// Executable says whether object is a sound program for a Windows node: its
// machine, subsystem, flags, and that nothing is appended to it. A program that
// isn't Go's is UNKNOWN: nothing can be said of what it was made of. One PASS
// stands for a program without fault.
func Executable(object string, f *pe.File) []finding.Finding {
	fs := header(object, f)
	if f.Build == nil {
		fs = append(fs, notGo(object, f, finding.Unknown, "ask whoever built it, or pin it in versions.yaml and build it with bake"))
	}
	if finding.Worst(fs) <= finding.Info {
		fs = append(fs, finding.Finding{ID: "binary.pe", Object: object, Observed: "PE32+ amd64 console, Go program, " + f.Build.GoVersion})
	}
	return fs
}

// header applies the rules that need no build information.
func header(object string, f *pe.File) []finding.Finding {
	var fs []finding.Finding
	for _, rule := range []func(*pe.File) *finding.Finding{arch, subsystem, flags, overlay, timestamp} {
		if fd := rule(f); fd != nil {
			fd.Object = object
			fs = append(fs, *fd)
		}
	}
	return fs
}

func arch(f *pe.File) *finding.Finding {
	if f.PE32Plus && f.Machine == stdpe.IMAGE_FILE_MACHINE_AMD64 {
		return nil
	}
	form := "PE32"
	if f.PE32Plus {
		form = "PE32+"
	}
	return &finding.Finding{
		ID: "binary.pe.arch", Severity: finding.Block,
		Observed: form + " " + machine(f.Machine), Expected: "PE32+ amd64",
		Why:    "Windows Server nodes are amd64 and start nothing else, or only in an emulation that they don't install",
		Remedy: howToBuild,
	}
}

func machine(m uint16) string {
	switch m {
	case stdpe.IMAGE_FILE_MACHINE_AMD64:
		return "amd64"
	case stdpe.IMAGE_FILE_MACHINE_I386:
		return "386"
	case stdpe.IMAGE_FILE_MACHINE_ARM64:
		return "arm64"
	case stdpe.IMAGE_FILE_MACHINE_ARMNT:
		return "arm"
	default:
		return fmt.Sprintf("machine %#04x", m)
	}
}

func subsystem(f *pe.File) *finding.Finding {
	if f.Subsystem == stdpe.IMAGE_SUBSYSTEM_WINDOWS_CUI {
		return nil
	}
	observed := fmt.Sprintf("subsystem %d", f.Subsystem)
	if f.Subsystem == stdpe.IMAGE_SUBSYSTEM_WINDOWS_GUI {
		observed = "a GUI program (2)"
	}
	return &finding.Finding{
		ID: "binary.pe.subsystem", Severity: finding.Block, Observed: observed, Expected: "a console program (3)",
		Why:    "a GUI program has no standard output: its logs and its --version are lost, and scripts don't wait for it",
		Remedy: "build it without -ldflags=-H=windowsgui",
	}
}

func flags(f *pe.File) *finding.Finding {
	missing := wantFlags &^ f.DllCharacteristics
	if missing == 0 {
		return nil
	}
	return &finding.Finding{
		ID: "binary.pe.flags", Severity: finding.Block,
		Observed: "without " + strings.Join((&pe.File{DllCharacteristics: missing}).Flags(), ", "),
		Expected: strings.Join((&pe.File{DllCharacteristics: wantFlags}).Flags(), ", "),
		Why:      "address space randomisation and data execution prevention are off for a service that runs as SYSTEM",
		Remedy:   howToBuild + ", with Go 1.16 or later, and let no other tool rewrite the file",
	}
}

func overlay(f *pe.File) *finding.Finding {
	if f.Overlay == 0 {
		return nil
	}
	return &finding.Finding{
		ID: "binary.pe.overlay", Severity: finding.Block,
		Observed: fmt.Sprintf("%d bytes that belong to no part of the program", f.Overlay), Expected: "none",
		Why:    "the linker appends nothing: something was added after the build, and Windows ignores it in silence",
		Remedy: "find out what was appended, and build the program anew",
	}
}

func timestamp(f *pe.File) *finding.Finding {
	if f.TimeDateStamp == 0 {
		return nil
	}
	return &finding.Finding{
		ID: "binary.pe.timestamp", Severity: finding.Info,
		Observed: time.Unix(int64(f.TimeDateStamp), 0).UTC().Format(time.RFC3339), Expected: "0",
		Why: "Go's own linker writes 0, so that the same sources give the same bytes: this is another linker's work (cgo), or was changed",
	}
}

// notGo is binary.go.missing at the severity that fits what is known of the
// program.
func notGo(object string, f *pe.File, s finding.Severity, remedy string) finding.Finding {
	observed := "no Go build information"
	if f.BuildErr != nil {
		observed += ": " + f.BuildErr.Error()
	}
	return finding.Finding{
		ID: "binary.go.missing", Severity: s, Object: object,
		Observed: observed, Expected: "a Go program",
		Why:    "nothing says which sources and which toolchain it was made of",
		Remedy: remedy,
	}
}
