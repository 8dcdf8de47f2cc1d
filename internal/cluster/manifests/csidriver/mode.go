package csidriver

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

// chooseMode settles how the driver reaches the node.
func (c *choice) chooseMode(mode Mode) error {
	switch mode {
	case "":
		if c.keepsMode() {
			c.hostProcess = c.old.mode() == HostProcess
			break
		}
		c.hostProcess = c.usual()
	case Auto:
		c.hostProcess = c.usual()
	case Pipes, HostProcess:
		c.hostProcess = mode == HostProcess
	default:
		return &fault.Error{What: fmt.Sprintf("%q is no mode", mode), Fix: "--mode, one of " + strings.Join(Modes(), ", ")}
	}
	if c.hostProcess && c.line.HostProcess == catalog.HostProcessNone {
		return &fault.Error{What: c.name() + " can't run as a HostProcess container", Fix: "--mode pipes, or leave it out"}
	}
	if !c.hostProcess && !c.canPipe() {
		return &fault.Error{What: c.name() + " has no client of csi-proxy: with pipes alone it can't reach the node's disks", Fix: "--mode hostprocess, or leave it out"}
	}
	if !c.hostProcess && !c.fits() {
		return c.noImage()
	}
	if !c.hostProcess || c.line.HostProcessNeedsProxy {
		if err := c.checkProxy(); err != nil {
			return err
		}
	}
	c.noteMode()
	return nil
}

func (c *choice) name() string { return fmt.Sprintf("the %s v%s", c.driver.Title, c.version.Core()) }

func (c *choice) canPipe() bool {
	return c.line.HostProcess != catalog.HostProcessMandatory && len(c.line.API) > 0
}

// fits tells whether a container of its own has an image for the Windows build.
// Where no builds are known, there is no ground to refuse.
func (c *choice) fits() bool {
	return c.image != "" || len(c.line.Builds) == 0 || c.line.HasImageFor(c.windows.build, "")
}

// usual is the mode of the project's own manifests, or HostProcess where the
// other has no image for the nodes.
func (c *choice) usual() bool {
	switch c.line.HostProcess {
	case catalog.HostProcessDefault, catalog.HostProcessMandatory:
		return true
	case catalog.HostProcessOptional:
		if !c.fits() && c.driver.Publication(c.version, true) != nil {
			c.note("There is no image of v%s for Windows Server %s with csi-proxy's pipes, so that a HostProcess container was taken; its image runs on any.", c.version.Core(), c.windows.name)
			return true
		}
	case catalog.HostProcessNone:
	}
	return false
}

func (c *choice) noteMode() {
	if c.hostProcess && c.definition.HostNote != "" {
		c.note("%s", c.definition.HostNote)
	}
	for _, caution := range c.definition.Cautions {
		if c.version.Compare(version.MustDriver(caution.Before)) < 0 {
			c.note("%s", caution.Text)
		}
	}
	switch {
	case c.hostProcess && c.line.HostProcessNeedsProxy:
		c.note("Even as a HostProcess container v%s dials csi-proxy, which it finds on the node: csi-proxy must run there all the same.", c.version.Core())
	case c.hostProcess && c.line.RunsWMIC && c.windows.name == "2025":
		c.note("v%s runs wmic on the node, which Windows Server 2025 may lack: see that it is there first.", c.version.Core())
	case !c.hostProcess && len(c.line.Builds) == 0 && c.image == "":
		c.note("For which Windows builds v%s has images isn't known: look at the image's manifest list.", c.version.Core())
	}
}

// checkProxy refuses releases whose WMCO never brought csi-proxy.
func (c *choice) checkProxy() error {
	var without, with []string
	for _, w := range c.catalog.WMCO {
		switch {
		case w.OpenShift != c.release.MinorString():
		case w.CSIProxy == "":
			without = append(without, w.From)
		default:
			with = append(with, w.From)
		}
	}
	if len(with) == 0 && len(without) > 0 {
		return &fault.Error{What: fmt.Sprintf("no Windows Machine Config Operator for OpenShift %s brings csi-proxy, which %s needs", c.release.MinorString(), c.name()), Fix: "update the cluster first, or set csi-proxy up on the nodes and name a later release with --for"}
	}
	if len(without) > 0 {
		c.note("csi-proxy comes with the Windows Machine Config Operator %s and newer; older ones for OpenShift %s have none.", with[0], c.release.MinorString())
	}
	return nil
}

// noImage says what can be done where the nodes' Windows has no image.
func (c *choice) noImage() error {
	var choices []string
	for _, w := range windowsReleases {
		if c.line.HasImageFor(w.build, "") {
			choices = append(choices, fmt.Sprintf("--windows %s, if the nodes are that", w.name))
		}
	}
	if c.line.HostProcess != catalog.HostProcessNone && c.driver.Publication(c.version, true) != nil {
		choices = append(choices, "--mode hostprocess, whose image runs on any Windows")
	}
	if b := c.catalog.Build(c.driver.Name); b != nil && b.Head(c.release.MinorString()) != nil {
		choices = append(choices, fmt.Sprintf("--image with what bake driver %s --for %s builds from the release's own commit", b.Name, c.release.MinorString()))
	}
	if release, v := c.laterImage(); release != "" {
		choices = append(choices, fmt.Sprintf("--for %s, whose v%s can run there; it is minors away from what OpenShift %s ships, which verify skew tells as SKEW001", release, v, c.release.MinorString()))
	}
	if len(choices) == 0 {
		choices = []string{"none: no version that the catalog knows runs there"}
	}
	return &fault.Error{
		What: fmt.Sprintf("%s, the closest to what OpenShift %s ships, has no image for Windows Server %s (build %d)", c.name(), c.release.MinorString(), c.windows.name, c.windows.build),
		Fix:  strings.Join(choices, "\n or: "),
	}
}

// laterImage is the next release with a version that runs on the nodes.
func (c *choice) laterImage() (release, v string) {
	for _, r := range c.catalog.Releases {
		rows := r.Drivers[c.driver.Name]
		if mustOpenShift(r.OpenShift).CompareMinor(c.release) <= 0 || len(rows) == 0 || rows[len(rows)-1].Version == "" {
			continue
		}
		shipped := core(rows[len(rows)-1].Version)
		line := c.driver.Line(shipped)
		if line != nil && (line.HostProcess != catalog.HostProcessNone || line.HasImageFor(c.windows.build, "")) {
			return r.OpenShift, shipped.Core()
		}
	}
	return "", ""
}

// findImage looks where the project has the image.
func (c *choice) findImage() error {
	if c.image != "" {
		return nil
	}
	c.publication = c.driver.Publication(c.version, c.hostProcess)
	if c.publication == nil || c.publication.Repository == "" {
		return &fault.Error{What: "where the project has the image of " + c.name() + " isn't known", Fix: "verify catalog " + c.driver.Name}
	}
	if c.publication.Unsure {
		c.note("Not every version was published: see first that the image is there, with skopeo inspect --raw docker://%s", c.source())
	}
	return nil
}

// source is the driver's image: the one that was given, or its project's.
func (c *choice) source() string {
	if c.image != "" {
		return c.image
	}
	tag := "v" + c.version.Core()
	if c.hostProcess && c.line.ImageSuffix != "" {
		tag += "-" + c.line.ImageSuffix
	}
	return c.publication.Repository + ":" + tag
}

type windowsRelease struct {
	name  string // 2022
	build int    // 20348
	// image runs shell, for the Deployment that tries the driver.
	image, shell string
}

// windowsReleases are those that OpenShift's Windows nodes run or ran. The
// first is what --windows is at: all releases since 4.10 support it.
var windowsReleases = []windowsRelease{
	{"2022", 20348, "mcr.microsoft.com/powershell:lts-nanoserver-ltsc2022", "pwsh.exe"},
	{"2019", 17763, "mcr.microsoft.com/powershell:lts-nanoserver-1809", "pwsh.exe"},
	{"2025", 26100, "mcr.microsoft.com/windows/servercore:ltsc2025", "powershell.exe"},
}

// WindowsVersions lists them, the usual one first.
func WindowsVersions() []string {
	var names []string
	for _, w := range windowsReleases {
		names = append(names, w.name)
	}
	return names
}

// WindowsBuild is the build of a Windows Server version: 20348 of 2022.
func WindowsBuild(name string) (int, error) {
	w, err := windowsOf(name)
	if err != nil {
		return 0, err
	}
	return w.build, nil
}

func windowsOf(name string) (*windowsRelease, error) {
	for i := range windowsReleases {
		if windowsReleases[i].name == name {
			return &windowsReleases[i], nil
		}
	}
	return nil, &fault.Error{What: "Windows Server " + name + " isn't known", Fix: "--windows, one of " + strings.Join(WindowsVersions(), ", ")}
}
