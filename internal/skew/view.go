package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// view is one Windows driver at one moment, with what a rule needs to judge it.
type view struct {
	*world
	// D is the DaemonSet: as it is, or as planned in the phase Planned.
	D *inventory.Driver
	// Planned: D comes from the planned manifests.
	Planned bool
	// Catalog is what is known of the driver; nil for an unknown one.
	Catalog *catalog.Driver
	// Line is the catalog's line of the Windows version; nil where that isn't
	// known or no line holds it.
	Line *catalog.Line
	// LinuxNow and LinuxTarget are the Linux side before and after this hop.
	// Without a hop they are the same.
	LinuxNow, LinuxTarget linuxSide
	// Nodes are the Windows nodes that its pods run on.
	Nodes []*inventory.Node
}

// Linux is the Linux side in this phase.
func (v *view) Linux() *linuxSide {
	if v.Phase == Now {
		return &v.LinuxNow
	}
	return &v.LinuxTarget
}

// Windows is the DaemonSet's version; false where it isn't known.
func (v *view) Windows() (version.Driver, bool) { return v.D.Version.Version, v.D.Version.Known }

// Name is the driver's title, or its provisioner, or its DaemonSet's name.
func (v *view) Name() string {
	switch {
	case v.Catalog != nil:
		return v.Catalog.Title
	case v.D.Provisioner != "":
		return v.D.Provisioner
	}
	return v.D.Object.Name
}

// Moves tells whether an operator of OpenShift keeps this Windows DaemonSet at
// the version of the Linux one.
func (v *view) Moves() bool { return v.operated(v.D) }

// leaves tells whether the DaemonSet is to go, because the release of this hop
// deploys it itself. REG002 says so; to follow Linux makes no sense then.
func (v *view) leaves() bool {
	if v.Phase == Now || v.Moves() {
		return false
	}
	to := v.cat.Release(v.to())
	return to != nil && slices.Contains(to.WindowsManaged, v.D.Line)
}

// asleep tells whether the cluster itself says that the DaemonSet runs nowhere.
// Many clusters carry one from the time before they had Windows nodes.
func (v *view) asleep() bool {
	r := v.D.Rollout
	return !v.Planned && r != nil && r.Observed && r.Desired == 0 && v.idle(v.D)
}

// evidence is where image and version were read.
func (v *view) evidence() []inventory.Evidence {
	list := []inventory.Evidence{v.D.Version.At}
	if v.D.Version.At.Where == "" {
		list = v.D.Evidence
	}
	return list
}

// newView makes the view of a Windows driver.
func newView(w *world, d *inventory.Driver, now, target linuxSide) *view {
	v := &view{world: w, D: d, Catalog: w.lineOf(d), LinuxNow: now, LinuxTarget: target, Nodes: w.Scope(d)}
	if v.Catalog != nil && d.Version.Known {
		v.Line = v.Catalog.Line(d.Version.Version)
	}
	return v
}

// lineOf is what the catalog knows of a driver.
func (x *index) lineOf(d *inventory.Driver) *catalog.Driver {
	if d.Line != "" {
		return x.cat.Driver(d.Line)
	}
	if d.Provisioner == "" {
		return nil
	}
	return x.cat.ByProvisioner(d.Provisioner)
}
