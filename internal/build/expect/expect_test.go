package expect

import (
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
)

func TestForMainModule(t *testing.T) {
	for _, tt := range []struct {
		name, pkg  string
		path, main string
		deps       int
	}{
		{"of the source module", "./cmd/csi-proxy", "example.test/csi-proxy/cmd/csi-proxy", "example.test/csi-proxy v1.3.0", 2},
		{"at its top", ".", "example.test/csi-proxy", "example.test/csi-proxy v1.3.0", 2},
		{"with its full path", "example.test/csi-proxy/cmd/csi-proxy", "example.test/csi-proxy/cmd/csi-proxy", "example.test/csi-proxy v1.3.0", 2},
		{"of another module", "example.test/lib/cmd/tool", "example.test/lib/cmd/tool", "example.test/lib v1.0.0", 2},
		{"of a nested module", "example.test/csi-proxy/client/cmd/x", "example.test/csi-proxy/client/cmd/x", "example.test/csi-proxy/client v0.0.0", 2},
		{"beside a nested module", "example.test/csi-proxy/client2", "example.test/csi-proxy/client2", "example.test/csi-proxy v1.3.0", 2},
		{"of no module that the lock knows", "example.test/elsewhere", "example.test/elsewhere", "example.test/csi-proxy v1.3.0", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, c, l := pinned()
			c.Package = tt.pkg
			p := For(c, f, l, nil)
			if got := p.Main.Path + " " + p.Main.Version; p.Path != tt.path || got != tt.main {
				t.Errorf("path %s, main %s; want %s, %s", p.Path, got, tt.path, tt.main)
			}
			if len(p.Modules) != tt.deps {
				t.Errorf("%d modules, want %d: %v", len(p.Modules), tt.deps, p.Modules)
			}
		})
	}
}

func TestForSettings(t *testing.T) {
	f, c, l := pinned()
	c.Tags, c.FIPS = []string{"a", "b"}, "v1.0.0"
	p := For(c, f, l, nil)
	for key, want := range map[string]string{"-tags": "a,b,fips140v1.0", "GOFIPS140": "v1.0.0", "CGO_ENABLED": "0", "GOEXPERIMENT": ""} {
		if got, ok := p.Settings[key]; got != want || !ok {
			t.Errorf("%s = %q %v, want %q", key, got, ok, want)
		}
	}
	exe := executable()
	set(exe, "-tags", "a,b,fips140v1.0")
	for value, want := range map[string]string{
		"v1.0.0": "PASS binary.pin", "v1.0.0-c2097c7c": "PASS binary.pin",
		"": "BLOCK binary.go.setting", "latest": "BLOCK binary.go.setting", "v1.0.01": "BLOCK binary.go.setting",
	} {
		set(exe, "GOFIPS140", value)
		if got := ids(p.Compare(object, exe)); len(got) != 1 || got[0] != want {
			t.Errorf("GOFIPS140=%s: %q, want %s", value, got, want)
		}
	}
	set(exe, "GOFIPS140", "v1.0.0")
	for value, want := range map[string]string{
		CompilerFlags: "PASS binary.pin", "": "PASS binary.pin",
		"-N -l": "BLOCK binary.go.setting", "all=-dwarf=false -N": "BLOCK binary.go.setting",
	} {
		set(exe, "-gcflags", value)
		if got := ids(p.Compare(object, exe)); len(got) != 1 || got[0] != want {
			t.Errorf("-gcflags=%s: %q, want %s", value, got, want)
		}
	}
	if len(c.Tags) != 2 {
		t.Errorf("For changed the component's tags: %q", c.Tags)
	}
}

func TestForLocalToolchain(t *testing.T) {
	f, c, l := pinned()
	c.Go = "local"
	exe := executable()
	exe.Build.GoVersion = "go1.25.3 (Red Hat 1.25.3-1.el9) X:strictfipsruntime"
	set(exe, "GOEXPERIMENT", "strictfipsruntime")
	expectIDs(t, For(c, f, l, nil).Compare(object, exe), "PASS binary.pin")
}

func TestRemediesNameTheFile(t *testing.T) {
	f, c, l := pinned()
	for path, want := range map[string]string{
		"versions.yaml":               "bake build csi-proxy --no-cache",
		"":                            "bake build csi-proxy --no-cache",
		"examples/wmco/versions.yaml": "bake build -f examples/wmco/versions.yaml csi-proxy --no-cache",
	} {
		f.Path = path
		if got := For(c, f, l, nil).rebuild(); got != want {
			t.Errorf("remedy with -f %q: %q, want %q", path, got, want)
		}
	}
}

func TestForKeepsStampsAndGodebug(t *testing.T) {
	f, c, l := pinned()
	stamps := map[string]string{"main.version": "v1.3.0"}
	p := For(c, f, l, stamps)
	if p.Stamps["main.version"] != "v1.3.0" || p.DefaultGODEBUG != l.DefaultGODEBUG || p.GoVersion != "go1.26.8" {
		t.Errorf("%+v", p)
	}
	l.Main, l.MainModule = "example.test/fork/cmd/x", "example.test/fork"
	if got := For(&pins.Component{Git: "g", Commit: "c", Package: "./cmd/x"}, f, l, nil); got.Path != l.Main || got.Main.Path != l.MainModule || got.Main.Version != devel {
		t.Errorf("of git: path %q, main %+v", got.Path, got.Main)
	}
}
