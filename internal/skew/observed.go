package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/inventory"
)

// works tells whether d is seen to start and register on n as it is: the pods of
// its present template are all ready, and the node's CSINode lists the driver,
// which no other DaemonSet can have brought. Readiness and registration don't
// show that a volume can be mounted: the calls for that dial csi-proxy later.
func (x *index) works(d *inventory.Driver, n *inventory.Node) bool {
	r := d.Rollout
	if r == nil || !r.Observed || r.Desired == 0 || r.Ready < r.Desired || r.Updated < r.Desired {
		return false
	}
	c := x.CSINode(n.Name)
	return c != nil && d.Provisioner != "" && slices.Contains(c.Drivers, d.Provisioner) &&
		!slices.ContainsFunc(x.windowsOf(d.Provisioner), func(o *inventory.Driver) bool { return o != d && slices.Contains(x.Scope(o), n) })
}

// unproven are the nodes that a driver isn't seen to work on. A planned manifest
// was never seen anywhere.
func (x *index) unproven(d *inventory.Driver, nodes []*inventory.Node) []*inventory.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *inventory.Node) bool { return x.works(d, n) })
}

// refuted tells whether what a rule derives is seen not to be so: that a driver
// can't start or register, on these nodes or on all of its own.
func (w *world) refuted(object string, nodes []*inventory.Node) bool {
	i := slices.IndexFunc(w.Views, func(v *view) bool { return v.D.Object.String() == object })
	if i < 0 || w.Views[i].Planned {
		return false
	}
	if nodes == nil {
		nodes = w.Views[i].Nodes
	}
	return len(nodes) > 0 && len(w.unproven(w.Views[i].D, nodes)) == 0
}
