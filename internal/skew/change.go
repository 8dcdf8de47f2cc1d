package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// change is how a Windows driver gets to another version: by its image where
// the pod stays as it is, by a whole manifest where it doesn't.
type change struct {
	// What is prose in one line, Command has a command on each line.
	What, Command string
	// Manifest: the tag alone breaks the driver.
	Manifest bool
	// privileged: the new pods are HostProcess ones, the present ones aren't.
	privileged bool
	// file is the manifest's name in Command.
	file string
	// to is the version that it leads to.
	to version.Driver
	// baked: bake's DaemonSet takes the place of the present one, as a HostProcess
	// one or not.
	baked, hostProcess bool
}

// text is the change for a finding's remedy.
func (c change) text() string { return laidOut(c.What, c.Command) }

// laidOut is prose and commands, a line each; reports show a line that begins
// with a command as one.
func laidOut(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// rollout waits until the pods have changed; a new manifest may name its
// DaemonSet otherwise.
func (c change) rollout(d *inventory.Driver) string {
	if c.Manifest {
		return "oc rollout status -f " + c.file
	}
	return fmt.Sprintf("oc %srollout status daemonset/%s", namespace(d), d.Object.Name)
}

// fit is the version that Windows should follow Linux to: the Linux one, or,
// where that can't run on the nodes' Windows, the next that can.
func (v *view) fit(d *inventory.Driver, to version.Driver) version.Driver {
	if v.Catalog == nil {
		return to
	}
	line := v.Catalog.Line(to)
	at := slices.IndexFunc(v.Catalog.Lines, func(l catalog.Line) bool { return line != nil && l.From == line.From })
	if at < 0 || v.runsOnNodes(&v.Catalog.Lines[at], d.HostProcess) {
		return to
	}
	for i := at + 1; i < len(v.Catalog.Lines); i++ {
		l := &v.Catalog.Lines[i]
		if from, err := version.ParseDriver(l.From); err == nil && !l.Unreleased && v.runsOnNodes(l, d.HostProcess) {
			return from
		}
	}
	return to
}

// runsOnNodes tells whether nothing is known that keeps a line off the Windows
// builds of the driver's nodes.
func (v *view) runsOnNodes(l *catalog.Line, hostProcess bool) bool {
	for _, n := range v.Nodes {
		if l.RunsWMIC && n.Build >= server2025 {
			return false
		}
		if isolated := !hostProcess && !mandatory(l); isolated && builds[n.Build] != "" && len(l.Builds) > 0 && !l.HasImageFor(n.Build, n.Runtime) {
			return false
		}
	}
	return true
}

// step is a change for the plan, with what a HostProcess pod needs first.
func (v *view) step(c change) *move {
	c = v.admitted(c)
	return &move{Step: Step{What: c.What, Command: c.Command}, to: c.to, baked: c.baked, hostProcess: c.hostProcess, file: c.file}
}

// admitted puts before a change what its HostProcess pods need.
func (v *view) admitted(c change) change {
	if c.privileged && c.Command != "" && !v.privilegedNamespace() {
		c.What += "; the first two commands let HostProcess pods into the namespace"
		c.Command = privilegeCommands(v.D) + "\n" + c.Command
	}
	return c
}

// change is how the driver gets to a version.
func (v *view) change(to version.Driver) change {
	return v.changeOf(v.D, v.D.HostProcess, to, v.Planned || v.req.Static)
}

// changeAfter is how the driver follows after the hop: by what was planned for
// it, where anything was.
func (v *view) changeAfter(to version.Driver) change {
	if v.Planned || v.Hop < v.Hops-1 {
		return v.change(to)
	}
	list := v.plannedChanges(v.D)
	if len(list) == 0 {
		return v.change(to)
	}
	c := list[0]
	for _, next := range list[1:] {
		c.What, c.Command = c.What+", and "+next.What, laidOut(c.Command, next.Command)
	}
	return c
}

// changeOf is how a DaemonSet gets to a version. hostProcess is what it is
// before the change. file: it is a manifest that isn't in a cluster.
func (v *view) changeOf(d *inventory.Driver, hostProcess bool, to version.Driver, file bool) change {
	cat := v.Catalog
	if to.IsZero() {
		return change{What: "pin the image of " + d.Object.String() + " to a released version"}
	}
	var line *catalog.Line
	if cat != nil {
		line = cat.Line(to)
	}
	if why := newManifest(d, line, hostProcess); why != "" {
		host := publicationKind(line, hostProcess)
		if b, ok := v.bakes(d, to, host); ok {
			return v.bakedChange(d, b, to, why, file)
		}
		c := manifestChange(d, cat, host, to, why, file)
		if v.scoped(d) != nil {
			c.What += fmt.Sprintf("; let it keep node selector, affinity and tolerations of the present one: %s runs the driver on other nodes", few(v.besides(d)))
		}
		c.privileged = !hostProcess && mandatory(line)
		return c
	}
	return imageChange(d, cat, hostProcess, to, file)
}

// publicationKind tells whether a driver that changes to a line is a HostProcess
// one then.
func publicationKind(line *catalog.Line, hostProcess bool) bool {
	return mandatory(line) || hostProcess && canHostProcess(line)
}

// newManifest says why a tag alone isn't enough; "" where it is.
func newManifest(d *inventory.Driver, line *catalog.Line, hostProcess bool) string {
	if line == nil {
		return ""
	}
	switch {
	case !hostProcess && line.HostProcess == catalog.HostProcessMandatory:
		return "it runs as a HostProcess container and mounts no csi-proxy pipe"
	case hostProcess && line.HostProcess == catalog.HostProcessNone:
		return "it can't run as a HostProcess container and needs csi-proxy's pipes"
	case hostProcess && line.Flag != "" && (d.HostProcessFlag == nil || !*d.HostProcessFlag):
		return "its pod must give " + line.Flag + "=true"
	case hostProcess && line.Flag == "" && d.HostProcessFlag != nil:
		return "it hasn't got the HostProcess flag that the pod gives"
	case !hostProcess && len(d.Pipes) > 0 && missingGroup(d, line) != "":
		return "it dials " + missingGroup(d, line) + ", which the present manifest doesn't mount"
	}
	return ""
}

// missingGroup is the first group of a line of which no version is mounted.
func missingGroup(d *inventory.Driver, line *catalog.Line) string {
	for _, use := range line.API {
		if !mountsAny(d, use) {
			return use.Group
		}
	}
	return ""
}

func mountsAny(d *inventory.Driver, use catalog.APIUse) bool {
	for _, p := range d.Pipes {
		for _, v := range use.Versions {
			if p.Group == use.Group && p.Version == v {
				return true
			}
		}
	}
	return false
}

func container(d *inventory.Driver) string { return cmp.Or(d.Container, "<driver container>") }

func namespace(d *inventory.Driver) string {
	if d.Object.Namespace == "" {
		return ""
	}
	return "-n " + d.Object.Namespace + " "
}
