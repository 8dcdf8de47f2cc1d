// Package snapshot is a cluster at a moment of an update: an inventory and the
// catalog, indexed, with what drivers, nodes, WMCO and csi-proxy are then. It
// answers what is there and judges nothing; rules do.
package snapshot

import (
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Route is the releases that an update passes.
type Route struct {
	// Stops begin with where the cluster is; the zero value where that isn't
	// known. One stop alone: nothing is updated.
	Stops []version.OpenShift
	// There is a target that the cluster is at already; the zero value for none.
	There version.OpenShift
	// Problem says why the route isn't known for sure; "" for nothing.
	Problem string
	// Fix says what to do about it. Unknown is a release that the catalog doesn't know;
	// the zero value for none.
	Fix     string
	Unknown version.OpenShift
}

// Request is what is asked.
type Request struct {
	// From is the release that the cluster runs, "4.19" or "4.19.12"; empty:
	// the inventory's.
	From string
	// To is the release that it is going to; empty: the check after an update,
	// of the present state alone.
	To string
	// Static: there is no cluster behind the manifests. Rules that need nodes
	// or volumes are listed as not evaluated.
	Static bool
	// EUS: whether an update over two minors is a Control Plane Only one; nil: as
	// the cluster's channel and pools say.
	EUS *bool
	// Catalogs are the files with rows over the embedded catalog: bake is given
	// them too.
	Catalogs []string
	// NoPlan leaves out the plan, which costs a judgement for each of its steps.
	NoPlan bool
	// Now is the day of the check, 2026-11-21, for the age of the catalog.
	Now string
}

// Phase is a moment of the update.
type Phase string

// The phases of one hop.
const (
	Now    Phase = "now"           // Linux and Windows as they are
	Target Phase = "control-plane" // Linux at the target, Windows unchanged
)

// CatalogEvidence is which catalog was asked.
func (snap *Snapshot) CatalogEvidence() []inventory.Evidence {
	return []inventory.Evidence{{Where: "catalog of " + snap.Catalog.AsOf}}
}

// Memo computes a value once per evaluation.
func Memo[T any](snap *Snapshot, key any, compute func() T) T {
	if v, ok := snap.memos[key].(T); ok {
		return v
	}
	v := compute()
	snap.memos[key] = v
	return v
}

// FromMinor and ToMinor are the minors at the ends of this hop, "" where there is none.
func (snap *Snapshot) FromMinor() string { return minorOf(snap.From) }

// ToMinor is the minor of To, "4.20"; "" for none.
func (snap *Snapshot) ToMinor() string { return minorOf(snap.To) }

func minorOf(o version.OpenShift) string {
	if o.IsZero() {
		return ""
	}
	return o.MinorString()
}

// View is one Windows driver at one moment, with what a rule needs to judge it.
type View struct {
	At *Snapshot
	// DaemonSet is the one that was read.
	DaemonSet *inventory.Driver
	// Catalog is what is known of the driver; nil for an unknown one.
	Catalog *catalog.Driver
	// Line is the catalog's line of the Windows version; nil where that isn't
	// known or no line holds it.
	Line *catalog.Line
	// LinuxNow and LinuxTarget are the Linux side before and after this hop.
	// Without a hop they are the same.
	LinuxNow, LinuxTarget Linux
	// Nodes are the Windows nodes that its pods run on.
	Nodes []*inventory.Node
}

// Snapshot is the cluster at one moment: a phase of a hop. What doesn't change from
// moment to moment is shared, so that rules look things up instead of walking
// thousands of volumes at every hop.
type Snapshot struct {
	Catalog   *catalog.Catalog
	Inventory *inventory.Inventory
	Request   Request
	Route     *Route
	// Nodes are the Windows nodes, Drivers all DaemonSets of drivers that were read,
	// Windows those for Windows.
	Nodes            []*inventory.Node
	Drivers, Windows []*inventory.Driver

	csiNodes map[string]*inventory.CSINode
	// volumes are those of Windows pods, by provisioner.
	volumes map[string][]*inventory.VolumeUse
	// linux are the Linux DaemonSets, by provisioner.
	linux map[string][]*inventory.Driver
	// Needed are the rules that need a resource, of those that apply.
	Needed map[inventory.Resource][]string
	// Partial says of a DaemonSet, by its name, why its manifest isn't whole.
	Partial map[string]string
	// memos are results that a rule computes once, see Memo.
	memos map[any]any

	Phase Phase
	// Hop counts from 0; Hops says how many there are, 0 for the check of the
	// present state alone.
	Hop, Hops int
	// From and To are the releases at the ends of this hop. From is the zero
	// value where it isn't known, To where there is no hop. A hop between has
	// minors alone (Patch -1).
	From, To version.OpenShift
	// Target is where the route ends; the zero value without hops.
	Target version.OpenShift
	// Views are the Windows drivers, as they are in this phase.
	Views []*View
}

// Release is what the control plane runs in this phase; the zero value where
// that isn't known.
func (snap *Snapshot) Release() version.OpenShift {
	if snap.Phase == Now {
		return snap.From
	}
	return snap.To
}

// CatalogRelease is what the catalog knows of Release; nil for nothing.
func (snap *Snapshot) CatalogRelease() *catalog.Release {
	if snap.Release().IsZero() {
		return nil
	}
	return snap.Catalog.Release(snap.Release().MinorString())
}

// New is a cluster on its route, before any moment of it.
func New(c *catalog.Catalog, inv *inventory.Inventory, req Request, j *Route) *Snapshot {
	windows := func(d *inventory.Driver) bool { return d.OS == "windows" }
	snap := &Snapshot{
		Catalog: c, Inventory: inv, Request: req, Route: j,
		Nodes: Pointers(inv.Nodes), Drivers: Pointers(inv.Drivers), Windows: Select(Pointers(inv.Drivers), windows),
		csiNodes: make(map[string]*inventory.CSINode, len(inv.CSINodes)),
		volumes:  map[string][]*inventory.VolumeUse{},
		linux:    map[string][]*inventory.Driver{},
		memos:    map[any]any{},
		Partial:  map[string]string{},
		Needed:   map[inventory.Resource][]string{},
	}
	for _, c := range Pointers(inv.CSINodes) {
		snap.csiNodes[c.Name] = c
	}
	for _, u := range Pointers(inv.Volumes) {
		snap.volumes[u.Provisioner] = append(snap.volumes[u.Provisioner], u)
	}
	for _, d := range snap.Drivers {
		if d.Partial != "" {
			snap.Partial[d.Object.String()] = d.Partial
		}
	}
	for _, d := range snap.Drivers {
		if d.OS == "linux" && d.Provisioner != "" {
			snap.linux[d.Provisioner] = append(snap.linux[d.Provisioner], d)
		}
	}
	return snap
}

// Covered tells whether there is anything of a resource to go by.
func (snap *Snapshot) Covered(r inventory.Resource) bool {
	c := snap.Inventory.Read[r]
	return c.Complete || c.Count > 0
}

// Payload is the payload of a release that was read. A minor alone takes the
// only payload of that minor.
func (snap *Snapshot) Payload(release version.OpenShift) *inventory.Payload {
	var found *inventory.Payload
	for _, p := range Pointers(snap.Inventory.Payloads) {
		v, err := version.ParseOpenShift(p.Version)
		switch {
		case err != nil || v.CompareMinor(release) != 0:
		case v.Compare(release) == 0:
			return p
		case release.Patch < 0 && found != nil:
			return nil
		case release.Patch < 0:
			found = p
		}
	}
	return found
}
