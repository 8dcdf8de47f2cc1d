// Package driver makes the Windows image of a CSI driver from the commit of
// OpenShift's fork that a release ships: which commit that is, how its program is
// built, and the image around the program.
//
// Packages resolve and compile build the program. The package writes no image
// anywhere and deploys none: see packages ociimage and manifests/csidriver.
package driver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// Source is one program and the commit that it is built from.
type Source struct {
	Build *catalog.Build
	// Pin is it as versions.yaml has it.
	Pin pins.Component
	// Locked: the pin is one of versions.yaml.
	Locked bool
	// InHostProcess is the mode that was settled on, Bases what its image is put onto.
	InHostProcess bool
	Bases         []*Base
	// Note says what isn't sure about the commit; "" for nothing.
	Note string
}

// Toolchain compiles where no versions.yaml says which.
const Toolchain = "1.26.8"

// Names are the programs that can be built, drivers first.
func Names(cat *catalog.Catalog) []string {
	var names []string
	for i := range cat.Builds {
		names = append(names, cat.Builds[i].Name)
	}
	return names
}

// Known refuses a name, written where, that isn't of a program that can be built.
func Known(cat *catalog.Catalog, name, where string) error {
	if cat.Build(name) != nil {
		return nil
	}
	return &fault.Error{Where: where, What: fmt.Sprintf("there is no driver %q to build", name), Fix: "one of " + strings.Join(Names(cat), ", ")}
}

// CheckPayload refuses a payload that isn't of the wanted OpenShift release.
func CheckPayload(p *inventory.Payload, wanted version.OpenShift) error {
	v, err := version.ParseOpenShift(p.Version)
	what := ""
	switch {
	case strings.Contains(p.Version, "okd"):
		what = "the payload is OKD's " + p.Version
	case err != nil:
		what = fmt.Sprintf("the payload calls itself %q, which is no OpenShift release", printable.Clip(p.Version))
	case v.CompareMinor(wanted) != 0 || len(strings.Split(wanted.String(), ".")) > 2 && v.Compare(wanted) != 0:
		what = "the payload is of OpenShift " + p.Version + ", and --for says " + wanted.String()
	case p.Architecture != "" && p.Architecture != "amd64":
		what = "the payload is for " + p.Architecture + ", and Windows nodes are amd64"
	default:
		return nil
	}
	return &fault.Error{Where: p.At.Where, What: what, Fix: "give the payload of OpenShift " + wanted.String() + " for x86_64: oc adm release info --commits RELEASE > release.txt"}
}

// Find finds the commit of the named program that a release ships: by its payload
// where that is given, else by the catalog's newest commit of the release branch.
// An error says what would work.
func Find(cat *catalog.Catalog, name string, release version.OpenShift, payload *inventory.Payload) (*Source, error) {
	if err := Known(cat, name, ""); err != nil {
		return nil, err
	}
	b := cat.Build(name)
	head := b.Head(release.MinorString())
	if payload != nil {
		if tag := payloadTag(cat, b, payload); tag != nil {
			return shipped(cat, b, head, tag, payload.Version)
		}
		if d := cat.Driver(name); d == nil || !d.OLM {
			return nil, &fault.Error{Where: payload.At.Where, What: fmt.Sprintf("the payload doesn't say of which commit its %s is", payloadName(cat, b)),
				Fix: "leave --release-image out, or give what has the commits: oc adm release info --commits RELEASE > release.txt"}
		}
	}
	if head == nil {
		fix := "give the release's own payload: oc adm release info --commits RELEASE > release.txt, and --release-image release.txt; known are "
		if Unshipped(cat, name, release) {
			fix = "it is in no payload: write its commit below drivers: in versions.yaml, or --for with one of "
		}
		return nil, &fault.Error{What: fmt.Sprintf("the catalog of %s knows no commit of %s for OpenShift %s", cat.AsOf, name, release.MinorString()),
			Fix: fix + strings.Join(minors(b), ", ")}
	}
	s := &Source{Build: b, Pin: pin(b, b.Git, head.Commit, head.Version)}
	s.Pin.Branch = "release-" + head.OpenShift
	s.Note = fmt.Sprintf("the newest commit of %s when the catalog was made (%s); a z-stream may have another, which --release-image tells", s.Pin.Branch, head.Date)
	if d := cat.Driver(name); d != nil && d.OLM {
		s.Note = fmt.Sprintf("the newest commit of %s when the catalog was made (%s); the operator that is installed may have another", s.Pin.Branch, head.Date)
	}
	return s, nil
}

// Unshipped reports whether nothing can tell the driver's commit: the catalog knows
// none for that release, and an operator of its own brings it, not the payload.
func Unshipped(cat *catalog.Catalog, name string, release version.OpenShift) bool {
	b, d := cat.Build(name), cat.Driver(name)
	return b != nil && d != nil && d.OLM && b.Head(release.MinorString()) == nil
}

// shipped is the source that a payload names.
func shipped(cat *catalog.Catalog, b *catalog.Build, head *catalog.Head, tag *inventory.PayloadTag, release string) (*Source, error) {
	git := b.Git
	if url := strings.TrimSuffix(tag.Source, ".git"); strings.HasPrefix(url, "https://") {
		git = url
	}
	if known, ok := cat.ByCommit(b.Name, tag.Commit); ok {
		return &Source{Build: b, Pin: pin(b, git, tag.Commit, known.Version)}, nil
	}
	if head == nil {
		return nil, &fault.Error{Where: tag.Name, What: fmt.Sprintf("which version commit %s of %s stands on isn't known", tag.Commit[:12], git),
			Fix: "add it to a catalog of your own: commits: [{driver: " + b.Name + ", commit: " + tag.Commit[:12] + ", version: ...}], and --catalog"}
	}
	s := &Source{Build: b, Pin: pin(b, git, tag.Commit, head.Version)}
	if head.Commit != tag.Commit {
		s.Note = fmt.Sprintf("the catalog of %s doesn't know commit %s of %s; v%s, its branch's version then, is what the program will call itself", cat.AsOf, tag.Commit[:12], release, head.Version)
	}
	return s, nil
}

func pin(b *catalog.Build, git, commit, upstream string) pins.Component {
	return pins.Component{Name: b.Name, Git: git, Commit: commit, Version: "v" + upstream, Package: b.Package, Stamp: b.Stamp}
}

// payloadTag is the program's image in a payload, nil for none with a commit.
func payloadTag(cat *catalog.Catalog, b *catalog.Build, p *inventory.Payload) *inventory.PayloadTag {
	want := payloadName(cat, b)
	i := slices.IndexFunc(p.Tags, func(t inventory.PayloadTag) bool { return t.Name == want && len(t.Commit) >= 40 })
	if want == "" || i < 0 {
		return nil
	}
	return &p.Tags[i]
}

func payloadName(cat *catalog.Catalog, b *catalog.Build) string {
	if d := cat.Driver(b.Name); d != nil {
		return d.Payload
	}
	return "csi-" + b.Name // csi-node-driver-registrar, csi-livenessprobe
}

func minors(b *catalog.Build) []string {
	var all []string
	for _, h := range b.Heads {
		all = append(all, h.OpenShift)
	}
	return all
}

// Carried is a commit that a fork has beyond the upstream version.
type Carried struct {
	Driver  string    `json:"driver"`
	Commit  string    `json:"commit"`
	Date    time.Time `json:"date"`
	Subject string    `json:"subject"`
}

// Carries lists what the fork has beyond the upstream version that it stands on.
func (s *Source) Carries(ctx context.Context, git *gitsrc.Cache) ([]Carried, error) {
	log, err := git.Beyond(ctx, s.Pin.Git, s.Pin.Commit, s.Build.Upstream, s.Pin.Version)
	if err != nil {
		return nil, err
	}
	var all []Carried
	for _, l := range log {
		all = append(all, Carried{Driver: s.Build.Name, Commit: l.Commit, Date: l.Date, Subject: l.Subject})
	}
	return all, nil
}

// PinsYAML is the list of drivers for versions.yaml.
func PinsYAML(sources []*Source) []byte {
	type entry struct {
		Name    string            `yaml:"name"`
		Git     string            `yaml:"git"`
		Branch  string            `yaml:"branch,omitempty"`
		Commit  string            `yaml:"commit"`
		Version string            `yaml:"version"`
		Package string            `yaml:"package"`
		Stamp   map[string]string `yaml:"stamp,omitempty"`
	}
	var drivers []entry
	for _, s := range sources {
		p := &s.Pin
		drivers = append(drivers, entry{p.Name, p.Git, p.Branch, p.Commit, p.Version, p.Package, p.Stamp})
	}
	data, err := yaml.Marshal(map[string]any{"drivers": drivers})
	if err != nil {
		panic("pins are plain data: " + err.Error())
	}
	return data
}

// HostProcess settles on a mode. Auto takes the one that the driver's project deploys
// at that version, as bake manifests csi-driver does. A sidecar runs in both: it takes
// a base with Windows if one was given, which starts in HostProcess containers too.
func (s *Source) HostProcess(cat *catalog.Catalog, mode csidriver.Mode, bases []*Base) (bool, error) {
	d := cat.Driver(s.Build.Name)
	if d == nil {
		return mode == csidriver.HostProcess || mode == csidriver.Auto && !slices.ContainsFunc(bases, func(b *Base) bool { return b.Build != 0 }), nil
	}
	v, err := version.ParseDriver(s.Pin.Version)
	if err != nil {
		return false, &fault.Error{Where: s.Build.Name, What: "version: " + err.Error(), Fix: "write upstream's version beside its commit", Err: err}
	}
	line := d.Line(v)
	switch {
	case mode == csidriver.Pipes && line.HostProcessOnly():
		return false, &fault.Error{Where: s.Build.Name, What: fmt.Sprintf("%s v%s speaks to no csi-proxy: it runs in HostProcess containers alone", d.Title, v.Core()), Fix: "--mode hostprocess"}
	case mode == csidriver.HostProcess && !line.CanHostProcess():
		return false, &fault.Error{Where: s.Build.Name, What: fmt.Sprintf("%s v%s can't run in a HostProcess container", d.Title, v.Core()), Fix: "--mode pipes"}
	}
	usual := line != nil && (line.HostProcess == catalog.HostProcessDefault || line.HostProcess == catalog.HostProcessMandatory)
	return mode == csidriver.HostProcess || mode == csidriver.Auto && usual, nil
}
