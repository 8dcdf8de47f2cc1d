package expect

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/windows/pe"
)

const issue361 = "https://github.com/kubernetes-csi/csi-proxy/issues/361"

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*pe.File)
		ids    []string
		texts  []string
	}{
		{"as pinned", func(*pe.File) {}, []string{"PASS binary.pin"}, []string{"example.test/csi-proxy v1.3.0", "2 dependencies"}},
		{"not Go", func(f *pe.File) { f.Build = nil }, []string{"BLOCK binary.go.missing"}, []string{"bake build csi-proxy --no-cache"}},
		{"toolchain", func(f *pe.File) { f.Build.GoVersion = "go1.26.7" }, []string{"BLOCK binary.go.version"}, []string{"go1.26.7", "go1.26.8"}},
		{"toolchain with experiments", func(f *pe.File) { f.Build.GoVersion = "go1.26.8 X:nodwarf5" }, []string{"BLOCK binary.go.version"}, []string{"X:nodwarf5"}},
		{"another program", func(f *pe.File) { f.Build.Path = "example.test/csi-proxy/cmd/other" }, []string{"BLOCK binary.go.path"}, []string{"cmd/other"}},
		{"module version", func(f *pe.File) { f.Build.Main.Version = "v1.2.0" }, []string{"BLOCK binary.go.main"}, []string{"v1.2.0", "v1.3.0"}},
		{"module sum", func(f *pe.File) { f.Build.Main.Sum = "h1:else=" }, []string{"BLOCK binary.go.main"}, []string{"h1:else=", "h1:main="}},
		{"module path", func(f *pe.File) { f.Build.Main.Path = "example.test/fork" }, []string{"BLOCK binary.go.main"}, []string{"example.test/fork"}},
		{"from a checkout", func(f *pe.File) { f.Build.Main.Version, f.Build.Main.Sum = "(devel)", "" }, []string{"BLOCK binary.go.main"}, []string{"(devel)"}},
		{"module replaced", func(f *pe.File) {
			f.Build.Main.Replace = &debug.Module{Path: "example.test/fork", Version: "v1.3.0", Sum: "h1:main="}
		}, []string{"BLOCK binary.go.main"}, []string{"=> example.test/fork"}},
		{"dependency missing", func(f *pe.File) { f.Build.Deps = f.Build.Deps[:1] }, []string{"BLOCK binary.go.deps"}, []string{"example.test/lib isn't linked", "v1.0.0"}},
		{"dependency extra", func(f *pe.File) {
			f.Build.Deps = append(f.Build.Deps, &debug.Module{Path: "example.test/evil", Version: "v6.6.6", Sum: "h1:evil="})
		}, []string{"BLOCK binary.go.deps"}, []string{"example.test/evil v6.6.6 h1:evil=", "isn't linked"}},
		{"dependency extra from a folder", func(f *pe.File) {
			f.Build.Deps = append(f.Build.Deps, &debug.Module{Path: "example.test/evil", Version: "(devel)"})
		}, []string{"BLOCK binary.go.deps"}, []string{"example.test/evil (devel)"}},
		{"dependency version", func(f *pe.File) { f.Build.Deps[1].Version = "v1.0.1" }, []string{"BLOCK binary.go.deps"}, []string{"v1.0.1", "another version"}},
		{"dependency sum", func(f *pe.File) { f.Build.Deps[1].Sum = "h1:edited=" }, []string{"BLOCK binary.go.deps"}, []string{"h1:edited=", "sources were changed"}},
		{"dependency without sum", func(f *pe.File) { f.Build.Deps[1].Sum = "" }, []string{"BLOCK binary.go.deps"}, []string{"h1:lib="}},
		{"replacement lost", func(f *pe.File) { f.Build.Deps[0].Replace = nil }, []string{"BLOCK binary.go.deps"}, []string{"=> example.test/csi-proxy/client v1.3.0"}},
		{"replacement version", func(f *pe.File) { f.Build.Deps[0].Replace.Version = "v1.2.0" }, []string{"BLOCK binary.go.deps"}, []string{"v1.2.0"}},
		{"replacement sum", func(f *pe.File) { f.Build.Deps[0].Replace.Sum = "h1:edited=" }, []string{"BLOCK binary.go.deps"}, []string{"sources were changed"}},
		{"replacement by a folder", func(f *pe.File) { f.Build.Deps[0].Replace = &debug.Module{Path: "./client", Version: "(devel)"} }, []string{"BLOCK binary.go.deps"}, []string{"=> ./client (devel)"}},
		{"replacement unasked", func(f *pe.File) {
			f.Build.Deps[1].Replace = &debug.Module{Path: "example.test/fork", Version: "v1.0.0", Sum: "h1:lib="}
		}, []string{"BLOCK binary.go.deps"}, []string{"=> example.test/fork"}},
		{"cgo", func(f *pe.File) { set(f, "CGO_ENABLED", "1") }, []string{"BLOCK binary.go.setting"}, []string{"CGO_ENABLED=1", "CGO_ENABLED=0"}},
		{"processor level", func(f *pe.File) { set(f, "GOAMD64", "v3") }, []string{"BLOCK binary.go.setting"}, []string{"GOAMD64=v3"}},
		{"paths in it", func(f *pe.File) { set(f, "-trimpath", "") }, []string{"BLOCK binary.go.setting"}, []string{"no -trimpath"}},
		{"experiment", func(f *pe.File) { set(f, "GOEXPERIMENT", "strictfipsruntime") }, []string{"BLOCK binary.go.setting"}, []string{"no GOEXPERIMENT"}},
		{"fips", func(f *pe.File) { set(f, "GOFIPS140", "v1.0.0-c2097c7c") }, []string{"BLOCK binary.go.setting"}, []string{"no GOFIPS140"}},
		{"tags", func(f *pe.File) { set(f, "-tags", "debug") }, []string{"BLOCK binary.go.setting"}, []string{"-tags=debug"}},
		{"race detector", func(f *pe.File) { set(f, "-race", "true") }, []string{"BLOCK binary.go.setting"}, []string{"no -race", "flags that the pin doesn't name"}},
		{"build mode", func(f *pe.File) { set(f, "-buildmode", "pie") }, []string{"BLOCK binary.go.setting"}, []string{"-buildmode=pie"}},
		{"another system", func(f *pe.File) { set(f, "GOOS", "linux"); set(f, "GOARCH", "arm64") }, []string{"BLOCK binary.go.setting", "BLOCK binary.go.setting"}, []string{"GOARCH=arm64"}},
		{"GODEBUG lost", func(f *pe.File) { set(f, "DefaultGODEBUG", "") }, []string{"BLOCK binary.go.godebug"}, []string{"no DefaultGODEBUG", issue361, "bake lock csi-proxy"}},
		{"winsymlink off", func(f *pe.File) { set(f, "DefaultGODEBUG", "panicnil=1,winsymlink=1") }, []string{"BLOCK binary.go.godebug"}, []string{issue361}},
		{"another GODEBUG", func(f *pe.File) { set(f, "DefaultGODEBUG", "winsymlink=0") }, []string{"BLOCK binary.go.godebug"}, []string{"go and godebug lines"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := executable()
			tt.change(f)
			fs := program().Compare(object, f)
			expectIDs(t, fs, tt.ids...)
			expectText(t, fs[0], tt.texts...)
		})
	}
}

func TestCompareCapsDependencies(t *testing.T) {
	for _, tt := range []struct {
		extra, findings int
		last            string
	}{
		{20, 20, "example.test/m19"},
		{21, 21, "1 more dependencies differ"},
		{500, 21, "480 more dependencies differ"},
	} {
		f := executable()
		for i := range tt.extra {
			f.Build.Deps = append(f.Build.Deps, &debug.Module{Path: fmt.Sprintf("example.test/m%02d", i), Version: "v1.0.0"})
		}
		fs := program().Compare(object, f)
		if len(fs) != tt.findings {
			t.Errorf("%d extra: %d findings, want %d", tt.extra, len(fs), tt.findings)
		}
		expectText(t, fs[len(fs)-1], tt.last)
		for _, fd := range fs {
			if fd.ID != "binary.go.deps" || fd.Object != object {
				t.Errorf("%d extra: %+v", tt.extra, fd)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*pe.File)
		ids    []string
	}{
		{"as pinned", func(*pe.File) {}, []string{"PASS binary.pin"}},
		{"header and pin", func(f *pe.File) { f.Overlay, f.Build.GoVersion = 1, "go1.2" }, []string{"BLOCK binary.pe.overlay", "BLOCK binary.go.version"}},
		{"header alone", func(f *pe.File) { f.Overlay = 1 }, []string{"BLOCK binary.pe.overlay"}},
		{"information alone", func(f *pe.File) { f.TimeDateStamp = 1 }, []string{"INFO binary.pe.timestamp", "PASS binary.pin"}},
		{"not Go", func(f *pe.File) { f.Build = nil }, []string{"BLOCK binary.go.missing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := executable()
			tt.change(f)
			expectIDs(t, program().Check(object, f), tt.ids...)
		})
	}
}

// A vendored git tree has no sums; modules of its own go.work and folders that
// replace modules are "(devel)" in build information.
func TestCompareGit(t *testing.T) {
	f, _, l := pinned()
	c := &pins.Component{Name: "csi-proxy", Git: "https://example.test/fork.git", Commit: "0123", Package: "./cmd/csi-proxy"}
	l.Module, l.Version, l.Sum, l.Vendored = "", "", "", true
	l.Main, l.MainModule = "example.test/csi-proxy/cmd/csi-proxy", "example.test/csi-proxy"
	l.Modules = []pins.LockedModule{
		{Path: "example.test/csi-proxy/client", Version: "v0.0.0", Replace: &pins.ModuleVersion{Path: "./client"}},
		{Path: "example.test/lib", Version: "v1.0.0"},
	}
	build := func() *pe.File {
		f := executable()
		f.Build.Main = debug.Module{Path: "example.test/csi-proxy", Version: "(devel)"}
		f.Build.Deps = []*debug.Module{
			{Path: "example.test/csi-proxy/client", Version: "v0.0.0", Replace: &debug.Module{Path: "./client", Version: "(devel)"}},
			{Path: "example.test/csi-proxy/staging", Version: "(devel)"},
			{Path: "example.test/lib", Version: "v1.0.0"},
		}
		return f
	}
	for _, tt := range []struct {
		name   string
		change func(*pe.File)
		ids    []string
	}{
		{"as pinned", func(*pe.File) {}, []string{"PASS binary.pin"}},
		{"in a module of another name", func(f *pe.File) { f.Build.Path, f.Build.Main.Path = "x.test/y/cmd/csi-proxy", "x.test/y" }, []string{"BLOCK binary.go.path", "BLOCK binary.go.main"}},
		{"in a module inside of it", func(f *pe.File) { f.Build.Main.Path += "/cmd" }, []string{"BLOCK binary.go.main"}},
		{"another program of it", func(f *pe.File) { f.Build.Path = "example.test/csi-proxy/cmd/other" }, []string{"BLOCK binary.go.path"}},
		{"from a module", func(f *pe.File) { f.Build.Main.Version = "v1.3.0" }, []string{"BLOCK binary.go.main"}},
		{"dependency version", func(f *pe.File) { f.Build.Deps[2].Version = "v1.0.1" }, []string{"BLOCK binary.go.deps"}},
		{"dependency extra", func(f *pe.File) { f.Build.Deps[1].Version = "v0.1.0" }, []string{"BLOCK binary.go.deps"}},
		{"dependency replaced by a folder", func(f *pe.File) { f.Build.Deps[1].Replace = &debug.Module{Path: "/tmp/x", Version: "(devel)"} }, []string{"BLOCK binary.go.deps"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exe := build()
			tt.change(exe)
			expectIDs(t, For(c, f, l, nil).Compare(object, exe), tt.ids...)
		})
	}
	t.Run("at the top of the tree", func(t *testing.T) {
		top := *c
		top.Package = "."
		lock := *l
		lock.Main = "example.test/csi-proxy"
		exe := build()
		exe.Build.Path = "example.test/csi-proxy"
		expectIDs(t, For(&top, f, &lock, nil).Compare(object, exe), "PASS binary.pin")
	})
	t.Run("in a module that it depends on", func(t *testing.T) {
		far := *c
		far.Package = "example.test/lib/cmd/lib"
		lock := *l
		lock.Main, lock.MainModule = far.Package, "example.test/lib"
		exe := build()
		exe.Build.Path, exe.Build.Main, exe.Build.Deps = far.Package, *exe.Build.Deps[2], exe.Build.Deps[:1]
		expectIDs(t, For(&far, f, &lock, nil).Compare(object, exe), "PASS binary.pin")
		exe.Build.Main.Version = "v1.0.1"
		expectIDs(t, For(&far, f, &lock, nil).Compare(object, exe), "BLOCK binary.go.main")
	})
}

func TestCompareLeavesEmptyFieldsAlone(t *testing.T) {
	p := &Program{Component: "x", DefaultGODEBUG: "panicnil=1,winsymlink=0", Modules: program().Modules}
	if fs := p.Compare(object, executable()); finding.Worst(fs) != finding.Pass {
		t.Errorf("findings %+v", fs)
	}
}
