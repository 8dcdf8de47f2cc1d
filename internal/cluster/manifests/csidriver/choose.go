package csidriver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

type choice struct {
	definition  *definition
	catalog     *catalog.Catalog
	driver      *catalog.Driver
	release     version.OpenShift
	windows     *windowsRelease
	version     version.Driver
	line        *catalog.Line
	hostProcess bool
	publication *catalog.Publication
	image       string // Options.Image
	notes       []string
	old         *Old
	kept        []Kept
}

func (c *choice) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// Choose settles on a version and a mode as Render does, and writes nothing. Its
// errors are Render's, but for those of namespaces, mirrors and digests.
func Choose(cat *catalog.Catalog, o Options) (v version.Driver, hostProcess bool, err error) {
	c, err := choose(cat, o)
	if err != nil {
		return version.Driver{}, false, err
	}
	return c.version, c.hostProcess, nil
}

// choose settles on a version and a mode, or says why there is none.
func choose(cat *catalog.Catalog, o Options) (*choice, error) {
	c := &choice{catalog: cat, release: o.For, definition: definitionOf(o.Driver), old: o.Old, image: o.Image}
	if c.definition != nil {
		c.driver = cat.Driver(o.Driver)
	}
	if c.driver == nil {
		return nil, &fault.Error{What: fmt.Sprintf("there is no driver %q to write", o.Driver), Fix: "one of " + strings.Join(Drivers(), ", ")}
	}
	var err error
	if c.windows, err = windowsOf(cmp.Or(o.Windows, windowsReleases[0].name)); err != nil {
		return nil, err
	}
	for _, step := range []func() error{c.checkRelease, c.chooseVersion, func() error { return c.chooseMode(o.Mode) }, c.findImage, c.findPod} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// checkRelease refuses releases that the driver isn't to be deployed on.
func (c *choice) checkRelease() error {
	minor := c.release.MinorString()
	r := c.catalog.Release(minor)
	if r == nil {
		first, last := c.catalog.Releases[0].OpenShift, c.catalog.Latest().OpenShift
		return &fault.Error{What: fmt.Sprintf("the catalog of %s doesn't know OpenShift %s", c.catalog.AsOf, minor), Fix: fmt.Sprintf("--for, a release from %s to %s", first, last)}
	}
	if slices.Contains(r.WindowsManaged, c.driver.Name) {
		return &fault.Error{
			What: fmt.Sprintf("from OpenShift %s on the cluster's own operator deploys the Windows DaemonSet of the %s; a second one for %s couldn't register on the nodes", minor, c.driver.Title, c.driver.Provisioner),
			Fix:  "write none, and keep what runs until the operator's is there: verify skew plan --to " + minor + " says when it can go",
		}
	}
	if from := c.definition.OpenShift.From; from != "" && c.release.CompareMinor(mustOpenShift(from)) < 0 {
		return &fault.Error{
			What: fmt.Sprintf("the %s serves no Windows nodes on OpenShift %s: %s", c.driver.Title, minor, c.definition.OpenShift.Why),
			Fix:  "keep the in-tree volumes until the control plane is at " + from + ", then --for " + from,
		}
	}
	return nil
}

func mustOpenShift(s string) version.OpenShift {
	v, err := version.ParseOpenShift(s)
	if err != nil {
		panic(err) // written in this package
	}
	return v
}

// chooseVersion takes what the release ships on Linux. Where its patches differ
// in the driver's minor, which may matter, the patch must be named.
func (c *choice) chooseVersion() error {
	rows := c.catalog.Ships(c.release, c.driver.Name)
	if len(rows) == 0 {
		return &fault.Error{
			What: fmt.Sprintf("OpenShift %s ships no %s, by the catalog of %s", c.release.MinorString(), c.driver.Title, c.catalog.AsOf),
			Fix:  "--for, one of " + strings.Join(c.shippedBy(), ", "),
		}
	}
	for _, row := range rows {
		if row.Version == "" {
			shipped := c.shippedBy()
			return &fault.Error{
				What: fmt.Sprintf("which %s OpenShift %s has isn't known, by the catalog of %s", c.driver.Title, c.release.MinorString(), c.catalog.AsOf),
				Fix:  "--for " + shipped[len(shipped)-1] + ", the last release that it is known of; verify skew tells later whether that fits",
			}
		}
	}
	newest := core(rows[len(rows)-1].Version)
	for _, row := range rows {
		if !core(row.Version).SameMinor(newest) {
			return &fault.Error{
				What: fmt.Sprintf("patches of OpenShift %s have different drivers: %s", c.release.MinorString(), ranges(rows)),
				Fix:  "name the cluster's patch, away from the edge: --for " + inside(c.release, rows),
			}
		}
	}
	if len(rows) > 1 {
		c.note("Patches of OpenShift %s have different drivers, all of one minor: %s. The newest was taken.", c.release.MinorString(), ranges(rows))
	}
	if rows[len(rows)-1].Certainty == catalog.Default && !c.driver.OLM {
		c.note("Of OpenShift %s only the head of the release's branch is known: verify skew says DATA001 until it is given the payload with --release-image.", c.release.MinorString())
	}
	c.version = newest
	if c.image == "" {
		c.substitute()
	}
	if c.line = c.driver.Line(c.version); c.line == nil {
		return &fault.Error{What: fmt.Sprintf("the catalog knows no line of the %s that holds v%s", c.driver.Title, c.version.Core()), Fix: "verify catalog " + c.driver.Name}
	}
	return nil
}

// substitute takes the closest version with an image where the shipped one has
// none.
func (c *choice) substitute() {
	shipped := c.version
	for _, s := range c.definition.Unpublished {
		if s.Version == shipped.Core() {
			c.version = version.MustDriver(s.Instead)
			c.note("%s. OpenShift %s ships that version; v%s is the closest with an image; bake driver builds the release's own, for --image.", s.Why, c.release.MinorString(), s.Instead)
		}
	}
}

// core is a version without what OpenShift's forks lack of it: they ship
// vSphere's last candidate instead of its release.
func core(s string) version.Driver {
	v := version.MustDriver(s)
	return version.Driver{Major: v.Major, Minor: v.Minor, Patch: v.Patch}
}

// shippedBy are the releases that ship a known version of the driver.
func (c *choice) shippedBy() []string {
	var list []string
	for _, r := range c.catalog.Releases {
		if rows := r.Drivers[c.driver.Name]; len(rows) > 0 && rows[0].Version != "" {
			list = append(list, r.OpenShift)
		}
	}
	return list
}

// ranges says which patches have which version.
func ranges(rows []catalog.Shipped) string {
	var list []string
	for _, row := range rows {
		text := core(row.Version).Core()
		switch {
		case row.FromZ != nil && row.UntilZ != nil:
			text += fmt.Sprintf(" from patch %d to %d", *row.FromZ, *row.UntilZ)
		case row.FromZ != nil:
			text += fmt.Sprintf(" from patch %d on", *row.FromZ)
		case row.UntilZ != nil:
			text += fmt.Sprintf(" up to patch %d", *row.UntilZ)
		}
		if row.FuzzyZ > 0 {
			text += fmt.Sprintf(" (give or take %d)", row.FuzzyZ)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// inside is a patch that surely has the newest of the versions.
func inside(release version.OpenShift, rows []catalog.Shipped) string {
	newest := rows[len(rows)-1]
	release.Pre, release.Patch = "", newest.FuzzyZ+1
	if newest.FromZ != nil {
		release.Patch += *newest.FromZ
	}
	return release.String()
}

// findPod tells whether the manifest of that version and mode was looked at.
func (c *choice) findPod() error {
	if c.definition.history(c.hostProcess).of(c.version) == 0 {
		return &fault.Error{What: "the manifest of " + c.name() + " for this mode wasn't looked at yet", Fix: "verify catalog " + c.driver.Name + " says where the project has it"}
	}
	return nil
}
