package bake

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

// TestDefaultPinsAgainstEachOperator: what the repository's own versions.yaml,
// pinned for 4.20, brings of what each operator demands. docs/payload.md has the
// figures for 4.20.
func TestDefaultPinsAgainstEachOperator(t *testing.T) {
	file, err := pins.Load("../../../versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	// Programs of git repositories and WMCO's own scripts. Until 4.16 the exporter
	// had another place, and nothing else of its own.
	never := []string{"hybrid-overlay-node.exe", "powershell/gcp-get-hostname.ps1", "powershell/hns.psm1",
		"powershell/windows-defender-exclusion.ps1"}
	early := slices.Concat(never, []string{"windows-instance-config-daemon.exe", "windows_exporter.exe"})
	late := slices.Concat(never, []string{"windows-exporter/windows-exporter-webconfig.yaml", "windows-instance-config-daemon.exe"})
	for _, tt := range []struct {
		release  string
		demanded int
		missing  []string
	}{
		{"4.12", 16, early}, {"4.13", 17, early}, {"4.14", 18, early}, {"4.15", 18, early}, {"4.16", 18, early},
		{"4.17", 19, late}, {"4.18", 19, late}, {"4.19", 19, late}, {"4.20", 19, late}, {"4.21", 19, late},
		{"4.22", 19, late}, {"4.23", 19, late}, {"5.0", 19, late},
	} {
		demanded := known.PayloadFiles(tt.release)
		if missing := lacks(file, demanded); len(demanded) != tt.demanded || !slices.Equal(missing, tt.missing) {
			t.Errorf("%s: of %d files are missing %q, want of %d %q", tt.release, len(demanded), missing, tt.demanded, tt.missing)
		}
	}
}

// TestWholeOperator: the example that says so pins all that its operator demands.
func TestWholeOperator(t *testing.T) {
	file, err := pins.Load("../../../examples/wmco/versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	demanded := known.PayloadFiles(file.Release)
	if missing := lacks(file, demanded); len(demanded) == 0 || len(missing) > 0 {
		t.Errorf("%s: of %d files are missing %q", file.Release, len(demanded), missing)
	}
}
