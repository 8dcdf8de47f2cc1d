package action

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

// become writes a driver over the one of its name, where there is one.
func become(inv *inventory.Inventory, to *inventory.Driver) {
	if to != nil && driver(inv, to.Object) != nil {
		put(inv, *to)
	}
}

// put writes a driver over the one of its name, or adds it.
func put(inv *inventory.Inventory, to inventory.Driver) {
	d := driver(inv, to.Object)
	if d == nil {
		inv.Drivers = append(slices.Clip(inv.Drivers), to)
		d = driver(inv, to.Object)
	}
	*d = to
	settled(inv, d)
}

// settled makes a DaemonSet registered on every node that it takes. Its rollout
// is one that nobody has seen: that a driver starts is judged by what is derived
// then.
func settled(inv *inventory.Inventory, d *inventory.Driver) {
	d.Running, d.Rollout = nil, nil
	if d.Provisioner == "" {
		return
	}
	inv.CSINodes = slices.Clone(inv.CSINodes)
	for i := range inv.CSINodes {
		c := &inv.CSINodes[i]
		n := slices.IndexFunc(inv.Nodes, func(n inventory.Node) bool { return n.Name == c.Name })
		if n >= 0 && d.Scheduling.Matches(inv.Nodes[n]) && !slices.Contains(c.Drivers, d.Provisioner) {
			c.Drivers = append(slices.Clip(c.Drivers), d.Provisioner)
		}
	}
}

// cutTag parts a reference that has no digest.
func cutTag(ref string) (repository, tag string) {
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[:colon], ref[colon+1:]
	}
	return ref, ""
}

// Becomes is what an action makes of a driver that is there; nil for nothing that
// is known.
func Becomes(a Action) *inventory.Driver {
	switch a := a.(type) {
	case ReplaceDriver:
		return &a.Becomes
	case EditDriver:
		return a.Becomes
	case ByHand:
		return a.Becomes
	}
	return nil
}
