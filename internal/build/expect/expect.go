// Package expect compares what an executable says of itself with what it
// should say: a node binary for Windows in general, and a component's pin and
// lock in particular.
//
// It is pure: it takes values and returns findings. It reads no file (package
// pe does), and it isn't for the payload's own layout and sums.
package expect

import (
	"cmp"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/target"
)

// Program is what the Go build information of a component's executable must
// say. An empty field isn't compared, but for the maps' entries, where "" is
// a value like any other.
type Program struct {
	Component string            // the name that remedies use
	GoVersion string            // "go1.26.8"
	Path      string            // the import path of the main package
	Main      debug.Module      // of the main package; "(devel)" for one that was built in its own checkout
	Modules   []*debug.Module   // the others that the program links
	Settings  map[string]string // of the build; "" means absent
	// DefaultGODEBUG is compared as it is; "" means that there is none.
	DefaultGODEBUG string
	Stamps         map[string]string // string variables and their values

	file string // versions.yaml, as it was given
}

// devel is the version of a module that is built where it is.
const devel = "(devel)"

// For says what the executable of component c must say, built from lock l
// with stamps (c.Stamps).
func For(c *pins.Component, f *pins.File, l *pins.Locked, stamps map[string]string) *Program {
	p := &Program{
		Component: c.Name, GoVersion: c.Toolchain(f), Path: cmp.Or(l.Main, c.ImportPath()), Main: module(mainModule(c, l)),
		Settings: settings(c), DefaultGODEBUG: l.DefaultGODEBUG, Stamps: stamps, file: f.Path,
	}
	if p.GoVersion == "local" {
		// The builder's own Go: whatever it calls itself, with whatever
		// experiments it was made (Red Hat's has strictfipsruntime).
		p.GoVersion = ""
		delete(p.Settings, "GOEXPERIMENT")
	}
	for _, m := range l.Modules {
		if m.Path != p.Main.Path {
			d := module(m)
			p.Modules = append(p.Modules, &d)
		}
	}
	return p
}

// module is a locked module as build information has it.
func module(m pins.LockedModule) debug.Module {
	d := debug.Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
	if m.Replace != nil {
		d.Replace = &debug.Module{Path: m.Replace.Path, Version: m.Replace.Version, Sum: m.Sum}
	}
	return d
}

// mainModule finds the module that provides the main package. That is the
// source module, unless package: names a path in one that it depends on. A git
// program's is the checkout's own, or one that it depends on.
func mainModule(c *pins.Component, l *pins.Locked) pins.LockedModule {
	best := pins.LockedModule{Path: l.Module, Version: l.Version, Sum: l.Sum}
	if l.MainModule != "" {
		best = pins.LockedModule{Path: l.MainModule, Version: devel}
	}
	path, length := c.ImportPath()+"/", 0
	for _, m := range l.Modules {
		if m.Path == l.MainModule {
			return m
		}
		if l.MainModule == "" && strings.HasPrefix(path, m.Path+"/") && len(m.Path) > length {
			best, length = m, len(m.Path)
		}
	}
	return best
}

// CompilerFlags are the -gcflags of every program that is built here. The
// linker would drop DWARF (-w), so the compiler doesn't make it: neither code
// nor symbols nor the tables of stack traces come from it.
const CompilerFlags = "all=-dwarf=false"

// settings are the build settings that Go records of the environment and the
// flags that every program is built with. What may not be there is in the list
// too: a race detector or coverage changes the program.
func settings(c *pins.Component) map[string]string {
	tags := c.Tags
	if c.FIPS != "" {
		// The go command adds a tag of its own for a frozen module: initVersion in
		// https://github.com/golang/go/blob/go1.26.0/src/cmd/go/internal/fips140/fips140.go.
		tags = append(tags[:len(tags):len(tags)], "fips140"+semver.MajorMinor(c.FIPS))
	}
	return map[string]string{
		"CGO_ENABLED": "0", "GOOS": target.Windows.OS, "GOARCH": target.Windows.Arch, "GOAMD64": target.Windows.AMD64,
		"GOEXPERIMENT": "", "GOFIPS140": c.FIPS,
		"-buildmode": "exe", "-compiler": "gc", "-trimpath": "true", "-tags": strings.Join(tags, ","),
		"-asmflags": "", "-gcflags": CompilerFlags, "-cover": "", "-race": "", "-msan": "", "-asan": "",
	}
}

// command is a bake command with -f where versions.yaml isn't the default.
func (p *Program) command(verb, rest string) string {
	if p.file != "" && p.file != "versions.yaml" {
		verb += " -f " + shell.Word(p.file)
	}
	return "bake " + verb + " " + rest
}

func (p *Program) rebuild() string { return p.command("build", p.Component+" --no-cache") }

func (p *Program) relock() string { return p.command("lock", p.Component) }
