package expect

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/pe"
)

const object = "csi-proxy/csi-proxy.exe"

// pinned is a component of versions.yaml with its lock.
func pinned() (*pins.File, *pins.Component, *pins.Locked) {
	f := &pins.File{Go: "1.26.8", Path: "versions.yaml"}
	c := &pins.Component{
		Name: "csi-proxy", Module: "example.test/csi-proxy", Version: "v1.3.0", Package: "./cmd/csi-proxy",
		Payload: object,
	}
	l := &pins.Locked{
		Module: "example.test/csi-proxy", Version: "v1.3.0", Sum: "h1:main=", DefaultGODEBUG: "panicnil=1,winsymlink=0",
		Modules: []pins.LockedModule{
			{Path: "example.test/csi-proxy", Version: "v1.3.0", Sum: "h1:main="},
			{Path: "example.test/csi-proxy/client", Version: "v0.0.0", Sum: "h1:client=", Replace: &pins.ModuleVersion{Path: "example.test/csi-proxy/client", Version: "v1.3.0"}},
			{Path: "example.test/lib", Version: "v1.0.0", Sum: "h1:lib="},
		},
	}
	return f, c, l
}

func program() *Program {
	f, c, l := pinned()
	return For(c, f, l, nil)
}

// executable is what go builds of it.
func executable() *pe.File {
	return &pe.File{
		PE32Plus: true, Machine: 0x8664, Subsystem: 3, DllCharacteristics: 0x8160,
		Build: &debug.BuildInfo{
			GoVersion: "go1.26.8", Path: "example.test/csi-proxy/cmd/csi-proxy",
			Main: debug.Module{Path: "example.test/csi-proxy", Version: "v1.3.0", Sum: "h1:main="},
			Deps: []*debug.Module{
				{Path: "example.test/csi-proxy/client", Version: "v0.0.0", Replace: &debug.Module{Path: "example.test/csi-proxy/client", Version: "v1.3.0", Sum: "h1:client="}},
				{Path: "example.test/lib", Version: "v1.0.0", Sum: "h1:lib="},
			},
			Settings: []debug.BuildSetting{
				{Key: "-buildmode", Value: "exe"}, {Key: "-compiler", Value: "gc"}, {Key: "-trimpath", Value: "true"},
				{Key: "DefaultGODEBUG", Value: "panicnil=1,winsymlink=0"},
				{Key: "CGO_ENABLED", Value: "0"}, {Key: "GOARCH", Value: "amd64"}, {Key: "GOOS", Value: "windows"}, {Key: "GOAMD64", Value: "v1"},
			},
		},
	}
}

// set changes a build setting, adds it, or with "" drops it.
func set(f *pe.File, key, value string) {
	f.Build.Settings = slices.DeleteFunc(f.Build.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if value != "" {
		f.Build.Settings = append(f.Build.Settings, debug.BuildSetting{Key: key, Value: value})
	}
}

// ids lists findings as "SEVERITY id".
func ids(fs []finding.Finding) []string {
	var list []string
	for _, f := range fs {
		list = append(list, f.Severity.String()+" "+f.ID)
	}
	return list
}

// expectIDs holds that fs are these, and that each is complete.
func expectIDs(t *testing.T, fs []finding.Finding, want ...string) {
	t.Helper()
	if got := ids(fs); !slices.Equal(got, want) {
		t.Fatalf("findings %q, want %q\n%+v", got, want, fs)
	}
	for _, f := range fs {
		if f.Object == "" || f.Observed == "" {
			t.Errorf("%s without object or observation: %+v", f.ID, f)
		}
		if f.Severity > finding.Info && (f.Expected == "" || f.Why == "" || f.Remedy == "") {
			t.Errorf("%s doesn't say what is expected, why and what to do: %+v", f.ID, f)
		}
	}
}

// expectText holds that one of fs says all of the texts.
func expectText(t *testing.T, f finding.Finding, texts ...string) {
	t.Helper()
	all := strings.Join([]string{f.Observed, f.Expected, f.Why, f.Remedy}, "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("%s doesn't say %q:\n%s", f.ID, text, all)
		}
	}
}
