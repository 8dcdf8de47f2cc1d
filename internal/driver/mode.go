package driver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/source/gitsrc"
	"github.com/winbake/winbake/internal/version"
)

// HostProcess settles on a mode. Auto takes the one that the driver's project deploys
// at that version, as bake manifests csi-driver does. A sidecar runs in both: there
// the bases decide.
func (s *Source) HostProcess(cat *catalog.Catalog, mode csidriver.Mode, bases []*Base) (bool, error) {
	if !slices.Contains(csidriver.Modes(), string(mode)) {
		return false, &fault.Error{What: fmt.Sprintf("--mode can't be %q", mode), Fix: "--mode, one of " + strings.Join(csidriver.Modes(), ", ")}
	}
	d := cat.Driver(s.Build.Name)
	if d == nil {
		return mode == csidriver.HostProcess || mode == csidriver.Auto && slices.ContainsFunc(bases, func(b *Base) bool { return b.Build == 0 }), nil
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

// ModeName is the word for a mode.
func ModeName(hostProcess bool) string {
	if hostProcess {
		return string(csidriver.HostProcess)
	}
	return string(csidriver.Pipes)
}

// NameLabel and ModeLabel are labels of our images.
const (
	NameLabel = "dev.winbake.driver"
	ModeLabel = "dev.winbake.mode"
)

// Labels are those of the OCI image spec, and those that OpenShift's own images
// have, by which verify skew tells that both sides are of one commit.
func (s *Source) Labels(created time.Time) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":     s.Build.Name + " for Windows nodes",
		"org.opencontainers.image.source":    s.Pin.Git,
		"org.opencontainers.image.revision":  s.Pin.Commit,
		"org.opencontainers.image.version":   s.Pin.Version,
		"org.opencontainers.image.created":   created.UTC().Format(time.RFC3339),
		"io.openshift.build.commit.id":       s.Pin.Commit,
		"io.openshift.build.source-location": s.Pin.Git,
		NameLabel:                            s.Build.Name,
		ModeLabel:                            ModeName(s.InHostProcess),
	}
}

// Images puts the layer onto each base.
func Images(bases []*Base, layer v1.Layer, o Options) (ociimage.ImageOrIndex, error) {
	var images []v1.Image
	for _, b := range bases {
		img, err := New(b, layer, o)
		if err != nil {
			return nil, err
		}
		images = append(images, img)
	}
	return Join(images)
}

// builds are the Windows builds by the name of the Server.
var builds = map[string]int{"2019": 17763, "2022": 20348, "2025": 26100}

// ForMode are the bases for containers of a mode. One without a build has no
// Windows of its own, and is for HostProcess containers alone.
func ForMode(bases []*Base, hostProcess bool) []*Base {
	var bare, whole []*Base
	for _, b := range bases {
		if b.Build == 0 {
			bare = append(bare, b)
		} else {
			whole = append(whole, b)
		}
	}
	if hostProcess && len(bare) > 0 {
		return bare
	}
	return whole
}

// CheckBases refuses bases, those of ForMode, on which an image couldn't start on
// nodes of those Windows versions. warning is what is worth knowing of one that
// will do.
func CheckBases(ctx context.Context, bases []*Base, windows []string) (warning string, err error) {
	for i, b := range bases {
		if slices.ContainsFunc(bases[:i], func(o *Base) bool { return o.Build == b.Build }) {
			return "", &fault.Error{Where: b.Digest, What: "two bases are for the same Windows version", Fix: "give one --base for each"}
		}
	}
	for _, w := range windows {
		build, known := builds[w]
		if !known {
			return "", &fault.Error{What: "Windows Server " + w + " isn't known", Fix: "--windows, one of " + strings.Join(csidriver.WindowsVersions(), ", ")}
		}
		i := slices.IndexFunc(bases, func(b *Base) bool { return b.fits(build) })
		if i < 0 {
			return "", &fault.Error{What: "no base has an image that starts on Windows Server " + w, Where: haveBuilds(bases),
				Fix: fmt.Sprintf("add --base with one of build %d, such as mcr.microsoft.com/windows/servercore of ltsc%s by digest, or take the version out of --windows", build, w)}
		}
		if bases[i].Build != 0 {
			continue
		}
		wrong, err := bases[i].Hives(ctx)
		if err != nil {
			return "", err
		}
		if wrong == "" {
			continue
		}
		if build >= builds["2025"] {
			return "", &fault.Error{Where: bases[i].Digest, What: "Windows Server 2025 can't unpack the base: " + wrong,
				Fix: "take a base made by New-HostProcessBaseImage.ps1 of microsoft/windows-host-process-containers-base-image from commit d7c1101 on; v1.0.0 is older"}
		}
		warning = "nodes of Windows Server 2025 can't unpack the base: " + wrong
	}
	return warning, nil
}

// fits reports whether a node of that build starts the image: from Server 2022 on
// it takes its own build and older ones down to that (see package catalog).
func (b *Base) fits(build int) bool {
	return b.Build == 0 || b.Build == build || b.Build >= builds["2022"] && b.Build < build
}

func haveBuilds(bases []*Base) string {
	var have []string
	if len(bases) == 0 {
		return "a base without os.version is for HostProcess containers alone"
	}
	for _, b := range bases {
		have = append(have, fmt.Sprintf("%s is of build %d", b.Digest, b.Build))
	}
	return strings.Join(have, ", ")
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
