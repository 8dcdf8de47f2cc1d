// Package expect compares what an executable says of itself with what it
// should say: a node binary for Windows in general, and a component's pin and
// lock in particular.
//
// It is pure: it takes values and returns findings. It reads no file (package
// pe does), and it isn't for the payload's own layout and sums.
package expect

import (
	"cmp"
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
	// Component is the name that remedies use.
	Component string
	// GoVersion is the toolchain: "go1.26.8".
	GoVersion string
	// Path is the import path of the main package.
	Path string
	// Main is the module of the main package. Its version is "(devel)" for
	// one that was built in its own checkout.
	Main pins.LockedModule
	// Modules are the other modules that the program links.
	Modules []pins.LockedModule
	// Settings maps build settings to their values; "" means absent.
	Settings map[string]string
	// DefaultGODEBUG is compared as it is; "" means that there is none.
	DefaultGODEBUG string
	// Stamps maps string variables to their values.
	Stamps map[string]string

	file string // versions.yaml, as it was given
}

// devel is the version of a module that is built where it lies.
const devel = "(devel)"

// For says what the executable of component c must say, built from lock l
// with stamps (c.Stamps).
func For(c *pins.Component, f *pins.File, l *pins.Locked, stamps map[string]string) *Program {
	p := &Program{
		Component: c.Name, GoVersion: c.Toolchain(f), Path: cmp.Or(l.Main, c.ImportPath()),
		Settings: settings(c), DefaultGODEBUG: l.DefaultGODEBUG, Stamps: stamps, file: f.Path,
	}
	if p.GoVersion == "local" {
		// The builder's own Go: whatever it calls itself, with whatever
		// experiments it was made (Red Hat's has strictfipsruntime).
		p.GoVersion = ""
		delete(p.Settings, "GOEXPERIMENT")
	}
	p.Main = mainModule(c, l)
	for _, m := range l.Modules {
		if m.Path != p.Main.Path {
			p.Modules = append(p.Modules, m)
		}
	}
	return p
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
func (p *Program) command(args string) string {
	if p.file == "" || p.file == "versions.yaml" {
		return "bake " + args
	}
	verb, rest, _ := strings.Cut(args, " ")
	return "bake " + verb + " -f " + shell.Word(p.file) + " " + rest
}

func (p *Program) rebuild() string { return p.command("build " + p.Component + " --no-cache") }

func (p *Program) relock() string { return p.command("lock " + p.Component) }
