package gomod

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/winbake/winbake/internal/build/pins"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestGoldenSynthetic(t *testing.T) {
	for name, c := range map[string]struct {
		source   module.Version
		override *pins.Godebug
	}{
		"csi-proxy":  {module.Version{Path: "github.com/kubernetes-csi/csi-proxy", Version: "v1.3.0"}, nil},
		"kubernetes": {module.Version{Path: "k8s.io/kubernetes", Version: "v1.33.13"}, nil},
		"override":   {module.Version{Path: "example.com/old", Version: "v1.1.3"}, &pins.Godebug{Go: "1.23", Set: map[string]string{"winsymlink": "0"}}},
		"no-go-line": {module.Version{Path: "example.com/older", Version: "v0.1.0"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			upstream, err := os.ReadFile(filepath.Join("testdata", name+".mod"))
			if err != nil {
				t.Fatal(err)
			}
			folders, err := LocalReplaces(upstream)
			if err != nil {
				t.Fatal(err)
			}
			locals := map[string]module.Version{}
			for path := range folders {
				v, ok := LocalVersion(c.source, path)
				if !ok {
					t.Fatalf("no version for %s", path)
				}
				locals[path] = module.Version{Path: path, Version: v}
			}
			f, err := Synthesize(name, c.source, upstream, locals, c.override)
			if err != nil {
				t.Fatal(err)
			}
			got := modfile.Format(f.Syntax)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(got) != string(want) {
				t.Errorf("%v, got:\n%s", err, got)
			}
			for _, line := range []string{"toolchain ", "tool ", "retract ", "=> ./"} {
				if strings.Contains(string(got), line) {
					t.Errorf("it still has %q", line)
				}
			}
		})
	}
}

func TestSynthesizeNeedsEveryFolder(t *testing.T) {
	upstream := []byte("module example.com/x\n\ngo 1.21\n\nrequire other.com/y v0.0.0\n\nreplace other.com/y => ../y\n")
	if _, err := Synthesize("x", module.Version{Path: "example.com/x", Version: "v1.0.0"}, upstream, nil, nil); err == nil {
		t.Error("a folder without a version was dropped")
	}
}

func TestDrift(t *testing.T) {
	source := module.Version{Path: "example.com/x", Version: "v1.0.0"}
	upstream := []byte("module example.com/x\n\ngo 1.21\n\nrequire (\n\ta.com/a v1.0.0\n\tb.com/b v1.0.0\n\texample.com/x/sub v0.0.0\n)\n\n" +
		"replace b.com/b => c.com/c v0.9.0\n\nreplace example.com/x/sub => ./sub\n")
	locals := map[string]module.Version{"example.com/x/sub": {Path: "example.com/x/sub", Version: "v1.0.0"}}
	good := []LinkedModule{
		{Path: "a.com/a", Version: "v1.0.0"},
		{Path: "b.com/b", Version: "v1.0.0", Replace: &LinkedModule{Path: "c.com/c", Version: "v0.9.0"}},
		{Path: "example.com/x", Version: "v1.0.0"},
		{Path: "example.com/x/sub", Version: "v0.0.0", Replace: &LinkedModule{Path: "example.com/x/sub", Version: "v1.0.0"}},
	}
	for name, c := range map[string]struct {
		change func([]LinkedModule) []LinkedModule
		want   int
	}{
		"the same":           {func(m []LinkedModule) []LinkedModule { return m }, 0},
		"another version":    {func(m []LinkedModule) []LinkedModule { m[0].Version = "v1.0.1"; return m }, 1},
		"a lost replacement": {func(m []LinkedModule) []LinkedModule { m[1].Replace = nil; return m }, 1},
		"another source":     {func(m []LinkedModule) []LinkedModule { m[2].Version = "v1.0.1"; return m }, 1},
		"one more": {func(m []LinkedModule) []LinkedModule {
			return append(m, LinkedModule{Path: "d.com/d", Version: "v1.0.0"})
		}, 1},
	} {
		linked := append([]LinkedModule(nil), good...)
		got, err := Drift(c.change(linked), source, upstream, locals)
		if err != nil || len(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// Before go 1.17 a go.mod doesn't name everything.
	old := []byte("module example.com/x\n\ngo 1.16\n")
	if got, err := Drift([]LinkedModule{{Path: "d.com/d", Version: "v1.0.0"}}, source, old, nil); err != nil || len(got) != 0 {
		t.Errorf("an unpruned go.mod: %q, %v", got, err)
	}
}

func TestNewer(t *testing.T) {
	versions := []string{"v1.0.0", "v1.2.0", "v1.2.9", "v1.3.0-rc.1", "v1.4.0", "bad", "cmd/agent/v0.4.0", "cmd/agent/v0.3.7", "cmd/other/v9.0.0", "release-1.2.4",
		"release-1.3", "kubernetes-1.33.2", "2024.01.15"}
	for current, want := range map[string][2]string{
		"v1.2.0": {"v1.2.9", "v1.4.0"}, "v1.4.0": {"", ""}, "v1.2.9": {"", "v1.4.0"}, "v1.3.0-alpha.1": {"v1.3.0-rc.1", "v1.4.0"},
		"1.2.3": {"v1.2.9", "v1.4.0"}, "cmd/agent/v0.3.0": {"cmd/agent/v0.3.7", "cmd/agent/v0.4.0"}, "release-1.2.3": {"release-1.2.4", "release-1.3"},
		"kubernetes-1.33.1": {"kubernetes-1.33.2", "kubernetes-1.33.2"},
	} {
		if patch, latest, known := Newer(current, versions); patch != want[0] || latest != want[1] || !known {
			t.Errorf("%s: %s %s, known %t, want %v", current, patch, latest, known, want)
		}
	}
	for _, none := range []string{"bad", "2024.01.14", "nightly-20240115", ""} {
		if _, latest, known := Newer(none, versions); known || latest != "" {
			t.Errorf("%q is compared: %s", none, latest)
		}
	}
}

func FuzzParseSums(f *testing.F) {
	f.Add([]byte("a.com/a v1.0.0 h1:x=\na.com/a v1.0.0/go.mod h1:y=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for key, sum := range ParseSums(data) {
			if !strings.HasPrefix(sum, "h1:") || !strings.Contains(key, " ") {
				t.Errorf("%q: %q", key, sum)
			}
		}
	})
}
