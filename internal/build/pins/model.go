// Package pins is versions.yaml and versions.lock: the model, a strict reader
// that says line and column of every mistake, and an editor that changes one
// pin and nothing else.
//
// It runs nothing and reaches no network: package resolve finds out what a
// pin means.
package pins

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/invopop/jsonschema"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/strictyaml"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// APIVersion is the only one that there is.
const APIVersion = "winbake.dev/v1"

// File is versions.yaml.
type File struct {
	APIVersion string      `json:"apiVersion" jsonschema:"required,enum=winbake.dev/v1" jsonschema_description:"The format of this file."`
	Release    string      `json:"release" jsonschema:"required,pattern=^[0-9]+\\.[0-9]+$" jsonschema_description:"The OpenShift release that the payload is for, quoted: \"4.20\". It decides the payload's format."`
	Go         string      `json:"go" jsonschema:"required" jsonschema_description:"The Go toolchain that compiles: a version such as \"1.26.8\", or local for the builder's own."`
	Source     string      `json:"source,omitempty" jsonschema_description:"URL of the repository that holds this file; a label of the image."`
	Base       string      `json:"base,omitempty" jsonschema_description:"Operator image to append the payload to, by digest. Empty: a payload-only image."`
	Components []Component `json:"components,omitempty" jsonschema:"minItems=1" jsonschema_description:"What goes into the payload."`
	Drivers    []Component `json:"drivers,omitempty" jsonschema_description:"CSI drivers, and the containers beside them, that bake driver builds. They change no byte of the payload."`
	Services   []Service   `json:"services,omitempty" jsonschema_description:"The Windows services that run on the node. They change no byte of the payload."`

	// Path is where the file was read from, as it was given to Load.
	Path string `json:"-"`

	places
	document *document
}

// Component is one thing that goes into the payload, of one of kinds. Its json
// tags are its keys in versions.yaml.
type Component struct {
	Name       string            `json:"name" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" jsonschema_description:"The component's name in commands and reports."`
	Module     string            `json:"module,omitempty" jsonschema_description:"Source: path of a Go module."`
	Version    string            `json:"version,omitempty" jsonschema_description:"Version of the module, quoted: \"v1.3.0\". Beside git: what {{.Version}} is in stamps."`
	Git        string            `json:"git,omitempty" jsonschema_description:"Source: URL of a git repository."`
	Commit     string            `json:"commit,omitempty" jsonschema:"pattern=^([0-9a-f]{40}|[0-9a-f]{64})$" jsonschema_description:"Full commit of the git source. Beside module: the tag's commit, for stamps, where the proxy doesn't tell it."`
	Branch     string            `json:"branch,omitempty" jsonschema_description:"Beside git: the branch that bake outdated and bake pin follow. The commit alone decides what is built."`
	Submodules bool              `json:"submodules,omitempty" jsonschema_description:"Check the git tree's submodules out too."`
	Dir        string            `json:"dir,omitempty" jsonschema_description:"Folder of the Go module inside the git tree."`
	Path       string            `json:"path,omitempty" jsonschema_description:"One file of the git tree, carried as it is."`
	File       string            `json:"file,omitempty" jsonschema_description:"Source: a file, relative to versions.yaml."`
	SHA256     string            `json:"sha256,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$" jsonschema_description:"Sum of the file."`
	Package    string            `json:"package,omitempty" jsonschema_description:"The program: ./cmd/x in the module or tree, or a full import path."`
	Stamp      map[string]string `json:"stamp,omitempty" jsonschema_description:"String variables that the linker sets. Values may use {{.Version}}, {{.Commit}}, {{.Date}}, {{.Major}} and {{.Minor}}."`
	Tags       []string          `json:"tags,omitempty" jsonschema_description:"Build tags."`
	FIPS       string            `json:"fips,omitempty" jsonschema:"pattern=^v[0-9]+\\.[0-9]+\\.[0-9]+$" jsonschema_description:"GOFIPS140 version, such as v1.0.0."`
	Go         string            `json:"go,omitempty" jsonschema_description:"A toolchain of its own."`
	Godebug    *Godebug          `json:"godebug,omitempty" jsonschema_description:"Replaces the go and godebug lines of upstream's go.mod."`
	Memory     string            `json:"memory,omitempty" jsonschema_description:"Peak memory of the compile, such as 7GiB, for scheduling. It changes no byte."`
	Payload    string            `json:"payload" jsonschema:"required" jsonschema_description:"Path below /payload."`
	Install    string            `json:"install,omitempty" jsonschema_description:"Path on the Windows node."`
	Signed     *Signed           `json:"signed,omitempty" jsonschema_description:"The program with its Authenticode signature, which the payload takes in place of what is compiled."`

	AllowOutside bool `json:"allow-outside,omitempty" jsonschema_description:"Beside file: it may be outside the folder of versions.yaml."`

	places
}

// Godebug replaces what upstream's go.mod says of GODEBUG
// (https://go.dev/doc/godebug).
type Godebug struct {
	Go     string            `json:"go,omitempty" jsonschema_description:"The go line, which decides the defaults."`
	Set    map[string]string `json:"set,omitempty" jsonschema_description:"The godebug lines."`
	Reason string            `json:"reason" jsonschema:"required" jsonschema_description:"Why upstream's own lines aren't right."`
}

// Signed is a program that was signed after bake build.
type Signed struct {
	File   string `json:"file" jsonschema:"required" jsonschema_description:"The signed program, relative to versions.yaml."`
	SHA256 string `json:"sha256" jsonschema:"required,pattern=^[0-9a-f]{64}$" jsonschema_description:"Sum of the signed program."`
}

// Dir is the folder of versions.yaml, to which file: is relative.
func (f *File) Dir() string { return filepath.Dir(f.Path) }

// LockDir is the folder of the locks: versions.lock beside versions.yaml.
func (f *File) LockDir() string {
	return strings.TrimSuffix(f.Path, filepath.Ext(f.Path)) + ".lock"
}

// Component returns the component of that name.
func (f *File) Component(name string) (*Component, error) {
	var names []string
	for _, c := range f.All() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	e := &fault.Error{Where: f.Path, What: fmt.Sprintf("there is no component %q", name), Fix: "one of: " + strings.Join(names, ", ")}
	if near := fault.Nearest(name, names); near != "" {
		e.Fix = "did you mean " + near + "? There are: " + strings.Join(names, ", ")
	}
	return nil, e
}

// All returns the components, then the drivers: whatever is pinned.
func (f *File) All() []*Component {
	var all []*Component
	for _, list := range [][]Component{f.Components, f.Drivers} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// Select returns what is named of All, in the file's order; all for no names.
func (f *File) Select(names []string) ([]*Component, error) {
	for _, n := range names {
		if _, err := f.Component(n); err != nil {
			return nil, err
		}
	}
	var out []*Component
	for _, c := range f.All() {
		if len(names) == 0 || slices.Contains(names, c.Name) {
			out = append(out, c)
		}
	}
	return out, nil
}

// Format is the payload format that the release's operator reads: "archived"
// from OpenShift 4.21 on, "flat" before
// (https://github.com/openshift/windows-machine-config-operator, commit
// 886d32d73).
func (f *File) Format() string { return FormatOf(f.Release) }

// FormatOf is the payload's format that the operator of a release reads.
func FormatOf(release string) string {
	v, err := semver.NewVersion(release + ".0")
	if err == nil && v.LessThan(semver.MustParse("4.21.0")) {
		return "flat"
	}
	return "archived"
}

// ImportPath is the program's full import path; "" for a relative package of
// a git tree, whose module path only its go.mod tells.
func (c *Component) ImportPath() string {
	rest, relative := strings.CutPrefix(c.Package, ".")
	if !relative {
		return c.Package
	}
	if c.Module == "" {
		return ""
	}
	return c.Module + strings.TrimSuffix(rest, "/")
}

// BuildPackage is what the go command is asked to build.
func (c *Component) BuildPackage() string {
	return cmp.Or(c.ImportPath(), c.Package)
}

// Toolchain is the one that compiles the component, as GOTOOLCHAIN takes it:
// "go1.26.8" or "local".
func (c *Component) Toolchain(f *File) string {
	if v := cmp.Or(c.Go, f.Go); v != "local" {
		return "go" + v
	}
	return "local"
}

// MemoryBytes is Memory in bytes; 0 for none.
func (c *Component) MemoryBytes() int64 {
	n, _ := ParseSize(c.Memory) // checked when the file was read
	return n
}

// PinDigest is the sha256 of every field that decides the component's lock or
// bytes. A lock made for another digest is stale.
func (c *Component) PinDigest(f *File) string {
	pin := *c
	pin.Name, pin.Payload, pin.Install, pin.Memory = "", "", "", ""
	pin.Go, pin.Branch, pin.Signed = "", "", nil // a branch decides nothing, and a signature comes after the build
	if c.Program() {
		pin.Go = c.Toolchain(f)
	}
	if pin.Godebug != nil { // a reason may be reworded
		g := *pin.Godebug
		g.Reason = ""
		pin.Godebug = &g
	}
	data, err := json.Marshal(pin)
	if err != nil {
		panic("a component is plain data: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseSize reads a number of bytes with a unit, such as 512MiB or 7GiB; ""
// is 0.
func ParseSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	for unit, shift := range map[string]uint{"KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || n <= 0 || n > math.MaxInt64>>shift {
				break
			}
			return n << shift, nil
		}
	}
	return 0, fmt.Errorf("%q isn't a size such as 512MiB or 7GiB", s)
}

// Schema returns the JSON Schema of versions.yaml, for editors. Parse is
// stricter, and tells lines and columns.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{RequiredFromJSONSchemaTags: true, Anonymous: true, ExpandedStruct: true}
	s := r.Reflect(&File{})
	driver := *s.Definitions["Component"] // an image of its own, with no path in the payload
	driver.Required = slices.DeleteFunc(slices.Clone(driver.Required), func(key string) bool { return key == "payload" })
	s.Definitions["Driver"] = &driver
	if drivers, ok := s.Properties.Get("drivers"); ok {
		drivers.Items = &jsonschema.Schema{Ref: "#/$defs/Driver"}
	}
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"components"}}, {Required: []string{"drivers"}}}
	s.Title = "versions.yaml of Winbake"
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(data, '\n'), nil
}

// Definitions are the services with everything filled in, in the file's order.
func (f *File) Definitions() []winsvc.Service {
	var out []winsvc.Service
	for _, s := range f.Services {
		out = append(out, s.Definition)
	}
	return out
}

// Mistakes makes an error of what is wrong with services of this file, each
// with its line and column; nil for none. What only an outside fact can tell,
// such as the flags that a release of a program has, is reported through here.
func (f *File) Mistakes(found []winsvc.Problem) error { return joinFaults(f.mistakes(found)) }

func (f *File) mistakes(found []winsvc.Problem) (errs []error) {
	d := f.document
	if d == nil { // a file that wasn't read
		d = &document{&strictyaml.Document{Name: f.Path}}
	}
	for _, p := range found {
		errs = append(errs, d.at(f.Services[p.Service].place(p.Field, p.Item), p.What, p.Fix))
	}
	return errs
}
