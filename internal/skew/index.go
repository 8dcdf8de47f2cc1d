package skew

import (
	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// index holds what doesn't change from moment to moment, so that rules look
// things up instead of walking thousands of volumes at every hop.
type index struct {
	cat *catalog.Catalog
	inv *inventory.Inventory
	req Request
	// stops are the releases of the way, see journey.
	stops    []version.OpenShift
	csiNodes map[string]*inventory.CSINode
	// volumes are those of Windows pods, by provisioner.
	volumes map[string][]*inventory.VolumeUse
	// linux are the Linux DaemonSets, by provisioner.
	linux map[string][]*inventory.Driver
	// scopes caches the nodes that a DaemonSet's pods run on.
	scopes map[*inventory.Driver][]*inventory.Node
	// lines caches the catalog's lines of DaemonSets.
	lines map[*inventory.Driver]*catalog.Line
	// needed are the rules that need a resource, of those that apply.
	needed map[inventory.Resource][]string
	// partial says of a DaemonSet, by its name, why its manifest isn't whole.
	partial map[string]string
	// memos are results that a rule computes once, see memo.
	memos map[string]any
}

func newIndex(c *catalog.Catalog, inv *inventory.Inventory, req Request) *index {
	x := &index{
		cat: c, inv: inv, req: req,
		csiNodes: make(map[string]*inventory.CSINode, len(inv.CSINodes)),
		volumes:  map[string][]*inventory.VolumeUse{},
		linux:    map[string][]*inventory.Driver{},
		scopes:   map[*inventory.Driver][]*inventory.Node{},
		lines:    map[*inventory.Driver]*catalog.Line{},
		memos:    map[string]any{},
		partial:  map[string]string{},
		needed:   map[inventory.Resource][]string{},
	}
	for i := range inv.CSINodes {
		x.csiNodes[inv.CSINodes[i].Name] = &inv.CSINodes[i]
	}
	for i := range inv.Volumes {
		u := &inv.Volumes[i]
		x.volumes[u.Provisioner] = append(x.volumes[u.Provisioner], u)
	}
	for _, list := range [][]inventory.Driver{inv.Drivers, req.Planned} {
		for i := range list {
			if d := &list[i]; d.Partial != "" {
				x.partial[d.Object.String()] = d.Partial
			}
		}
	}
	for i := range inv.Drivers {
		if d := &inv.Drivers[i]; d.OS == "linux" && d.Provisioner != "" {
			x.linux[d.Provisioner] = append(x.linux[d.Provisioner], d)
		}
	}
	return x
}

// CSINode finds the CSINode of a node; nil if it wasn't read.
func (x *index) CSINode(name string) *inventory.CSINode { return x.csiNodes[name] }

// Uses are the volumes of Windows pods that a provisioner serves; "" are those
// of which that couldn't be told.
func (x *index) Uses(provisioner string) []*inventory.VolumeUse { return x.volumes[provisioner] }

// Scope are the Windows nodes that a DaemonSet's pods run on, in name order.
func (x *index) Scope(d *inventory.Driver) []*inventory.Node {
	if nodes, ok := x.scopes[d]; ok {
		return nodes
	}
	var nodes []*inventory.Node
	for i := range x.inv.Nodes {
		if n := &x.inv.Nodes[i]; d.Scheduling.Matches(*n) {
			nodes = append(nodes, n)
		}
	}
	x.scopes[d] = nodes
	return nodes
}

// memo computes a value once per evaluation.
func memo[T any](x *index, key string, compute func() T) T {
	if v, ok := x.memos[key].(T); ok {
		return v
	}
	v := compute()
	x.memos[key] = v
	return v
}
