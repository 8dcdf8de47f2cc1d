package snapshot

import (
	"reflect"
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Replacements are the planned DaemonSets that replace one together: the
// one of its name, which `oc apply` writes over it, or those that run its driver
// on all of its nodes. None: it stays, as an operator's does, which would come
// back.
func (snap *Snapshot) Replacements(d *inventory.Driver) []*inventory.Driver {
	return Memo(snap, "replacements of "+d.Object.String(), func() []*inventory.Driver {
		if snap.Operated(d) {
			return nil
		}
		if at := slices.IndexFunc(snap.PlannedWindows, func(p *inventory.Driver) bool { return SameObject(p.Object, d.Object) }); at >= 0 {
			return snap.PlannedWindows[at : at+1]
		}
		if met := snap.overlapping(d); snap.cover(met, d) {
			return met
		}
		return nil
	})
}

func (snap *Snapshot) overlapping(d *inventory.Driver) []*inventory.Driver {
	return Select(snap.plannedOf(d), func(p *inventory.Driver) bool { return snap.meet(p, d) })
}

func (snap *Snapshot) plannedOf(d *inventory.Driver) []*inventory.Driver {
	return Memo(snap, "planned as "+d.Provisioner, func() []*inventory.Driver {
		return Select(snap.PlannedWindows, func(p *inventory.Driver) bool { return p.Provisioner != "" && p.Provisioner == d.Provisioner })
	})
}

// Misfit is why a planned DaemonSet can't take the place of another one as it is.
type Misfit int

// The misfits.
const (
	LeavesNodes Misfit = iota + 1 // nodes lose the driver
	RunsTwice                     // on nodes of the present one, beside it
	MatchesNone                   // it runs on no node
)

// Unsuitable are planned DaemonSets that can't take the place of d as they are, and
// why.
func (snap *Snapshot) Unsuitable(d *inventory.Driver) ([]*inventory.Driver, Misfit) {
	if planned := snap.Replacements(d); len(planned) > 0 {
		if len(snap.UncoveredNodes(d)) > 0 {
			return planned, LeavesNodes
		}
		return nil, 0
	}
	if met := snap.overlapping(d); len(met) > 0 {
		return met, RunsTwice
	}
	if idle := Select(snap.plannedOf(d), func(p *inventory.Driver) bool { return snap.MatchesNoNode(p) }); len(idle) > 0 && len(snap.Scope(d)) > 0 {
		return idle, MatchesNone
	}
	return nil, 0
}

// UncoveredNodes are nodes that have the driver of d now, and won't when what was
// planned is written over d.
func (snap *Snapshot) UncoveredNodes(d *inventory.Driver) []*inventory.Node {
	planned := snap.Replacements(d)
	if len(planned) == 0 || d.Provisioner == "" || planned[0].Provisioner == "" {
		return nil
	}
	stay := Select(snap.DaemonSetsOf(d.Provisioner), func(o *inventory.Driver) bool { return len(snap.Replacements(o)) == 0 })
	return snap.without(slices.Concat(snap.plannedOf(d), stay), snap.Scope(d))
}

func (snap *Snapshot) without(list []*inventory.Driver, nodes []*inventory.Node) []*inventory.Node {
	return Select(nodes, func(n *inventory.Node) bool {
		return !slices.ContainsFunc(list, func(d *inventory.Driver) bool { return slices.Contains(snap.Scope(d), n) })
	})
}

// PlannedFor are the planned DaemonSets that are to take the place of d, whether
// they can or not; nil for none.
func (snap *Snapshot) PlannedFor(d *inventory.Driver) []*inventory.Driver {
	if planned := snap.Replacements(d); len(planned) > 0 {
		return planned
	}
	list, _ := snap.Unsuitable(d)
	return list
}

// Replaced are the DaemonSets of the inventory that planned ones were
// planned for.
func (snap *Snapshot) Replaced() map[*inventory.Driver][]*inventory.Driver {
	return Memo(snap, "replaced", func() map[*inventory.Driver][]*inventory.Driver {
		of := map[*inventory.Driver][]*inventory.Driver{}
		for _, d := range snap.Windows {
			for _, p := range snap.PlannedFor(d) {
				of[p] = append(of[p], d)
			}
		}
		return of
	})
}

// meet tells whether a DaemonSet may have pods on a node of b. Where b has none
// it meets what takes every node that b would.
func (snap *Snapshot) meet(a, b *inventory.Driver) bool {
	switch on := snap.Scope(b); {
	case len(on) > 0:
		return len(snap.without([]*inventory.Driver{a}, on)) < len(on)
	case snap.Inventory.Read[inventory.Nodes].Complete:
		return noNarrower(a.Scheduling, b.Scheduling)
	}
	return !NeverMeet(a.Scheduling, b.Scheduling)
}

// cover tells whether DaemonSets leave none of the nodes of d without one of
// them. Where d has none, or none were read, the selectors tell.
func (snap *Snapshot) cover(list []*inventory.Driver, d *inventory.Driver) bool {
	if len(snap.Scope(d)) == 0 {
		return slices.ContainsFunc(list, func(p *inventory.Driver) bool { return noNarrower(p.Scheduling, d.Scheduling) })
	}
	return len(snap.without(list, snap.Scope(d))) == 0
}

func noNarrower(a, b inventory.Scheduling) bool {
	for key, value := range a.NodeSelector {
		if have, ok := b.NodeSelector[key]; !ok || have != value {
			return false
		}
	}
	return len(a.Terms) == 0 || reflect.DeepEqual(a.Terms, b.Terms)
}

// NeverMeet tells whether no node can have both: the selectors want two values of
// one label.
func NeverMeet(a, b inventory.Scheduling) bool {
	for key, value := range a.NodeSelector {
		if other, both := b.NodeSelector[key]; both && other != value {
			return true
		}
	}
	return false
}
