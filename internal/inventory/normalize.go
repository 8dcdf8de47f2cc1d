package inventory

import (
	"cmp"
	"slices"
)

// Normalize sorts every list, so that the same objects in another order print
// the same bytes.
func (inv *Inventory) Normalize() {
	slices.SortStableFunc(inv.Drivers, func(a, b Driver) int { return a.Object.Compare(b.Object) })
	for i := range inv.Drivers {
		inv.Drivers[i].normalize()
	}
	slices.SortStableFunc(inv.SetAside, func(a, b SetAside) int { return a.Object.Compare(b.Object) })
	slices.SortStableFunc(inv.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(inv.CSINodes, func(a, b CSINode) int { return cmp.Compare(a.Name, b.Name) })
	for i := range inv.CSINodes {
		slices.Sort(inv.CSINodes[i].Drivers)
		slices.Sort(inv.CSINodes[i].Migrated)
	}
	slices.SortStableFunc(inv.Proxies, func(a, b Proxy) int { return a.Object.Compare(b.Object) })
	slices.SortStableFunc(inv.Volumes, func(a, b VolumeUse) int {
		return cmp.Or(a.Pod.Compare(b.Pod), cmp.Compare(a.Volume, b.Volume), cmp.Compare(a.Claim, b.Claim))
	})
	slices.SortStableFunc(inv.Leftovers, func(a, b Leftover) int { return a.Object.Compare(b.Object) })
	slices.SortStableFunc(inv.Payloads, func(a, b Payload) int { return cmp.Compare(a.Version, b.Version) })
	slices.SortStableFunc(inv.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	inv.Cluster.normalize()
}

func (d *Driver) normalize() {
	byName := func(a, b Pipe) int { return cmp.Compare(a.Name(), b.Name()) }
	slices.SortStableFunc(d.Pipes, byName)
	slices.SortStableFunc(d.Unmounted, byName)
	slices.SortStableFunc(d.Running, func(a, b Running) int { return cmp.Compare(a.Image.Reference, b.Image.Reference) })
	for i := range d.Running {
		slices.Sort(d.Running[i].Nodes)
	}
}

func (c *Cluster) normalize() {
	slices.Sort(c.AdminAcks)
	byName(c.Conditions, func(o Condition) string { return o.Type })
	byName(c.AdminGates, func(g AdminGate) string { return g.Key })
	byName(c.Pools, func(p Pool) string { return p.Name })
	byName(c.CSIDrivers, func(d ClusterCSIDriver) string { return d.Name })
	byName(c.Namespaces, func(n Namespace) string { return n.Name })
	slices.SortStableFunc(c.Services, func(a, b ServiceList) int { return cmp.Compare(a.WMCO, b.WMCO) })
	slices.SortStableFunc(c.Evidence, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text, b.Text))
	})
}

func byName[T any](list []T, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}

// Compare orders objects by kind, namespace and name.
func (o Object) Compare(p Object) int {
	return cmp.Or(cmp.Compare(o.Kind, p.Kind), cmp.Compare(o.Namespace, p.Namespace), cmp.Compare(o.Name, p.Name))
}
