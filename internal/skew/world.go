package skew

import (
	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// world is the cluster at one moment: a phase of a hop.
type world struct {
	*index
	Phase Phase
	// Hop counts from 0; Hops says how many there are, 0 for the check of the
	// present state alone.
	Hop, Hops int
	// From and To are the releases at the ends of this hop. From is the zero
	// value where it isn't known, To where there is no hop. A hop on the way has
	// minors alone (Patch -1).
	From, To version.OpenShift
	// problem says why the way isn't known for sure, target is where it ends.
	problem string
	fix     string
	target  version.OpenShift
	// Views are the Windows drivers, as they are in this phase.
	Views []*view
}

// Release is what the control plane runs in this phase; the zero value where
// that isn't known.
func (w *world) Release() version.OpenShift {
	if w.Phase == Now {
		return w.From
	}
	return w.To
}

// CatalogRelease is what the catalog knows of Release; nil for nothing.
func (w *world) CatalogRelease() *catalog.Release {
	if w.Release().IsZero() {
		return nil
	}
	return w.cat.Release(w.Release().MinorString())
}

// hopName is "4.18 -> 4.19"; "" without hops.
func (w *world) hopName() string {
	if w.Hops == 0 {
		return ""
	}
	return hopOf(w.From, w.To).String()
}

// destination is the release that the cluster is going to; "" for none.
func (w *world) destination() string {
	if w.target.IsZero() {
		return ""
	}
	return w.target.String()
}

// moment names hop and phase, for people.
func (w *world) moment() string {
	switch {
	case w.Hops == 0 || w.Phase == Now && w.Hop == 0:
		return "now"
	case w.Phase == Planned:
		return w.hopName() + ", with the planned manifests"
	}
	return w.hopName()
}

// covered tells whether there is anything of a resource to go by.
func (x *index) covered(r inventory.Resource) bool {
	c := x.inv.Read[r]
	return c.Complete || c.Count > 0 || r == inventory.DaemonSets && len(x.req.Planned) > 0
}
