// Package action holds what an admin can do about a finding, as values: what it
// does in words, the commands that do it, how to tell that it is done, how to
// undo it, and what it makes of a cluster. A plan applies actions to an
// inventory before it chooses the next one, and bake writes its folder from the
// same options.
//
// The package runs nothing, and doesn't choose:
// the rules of package skew do.
package action

import (
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Action is one thing to do. Its words and commands are in the file beside its type.
// Only this package's types are actions: each embeds defaults.
type Action interface {
	// apply makes an inventory what it is when the action is done.
	apply(*inventory.Inventory)
	// sets are the values that a later action may change. The first is its own: where
	// it is set again, the action counts as done when the later one is.
	sets() []setting
	// rank orders what is due at the same time.
	rank() int
	// changes are the DaemonSets that it changes.
	changes() []inventory.Object
	// outcome is what it makes of a driver that is there; nil for nothing that is known.
	outcome() *inventory.Driver
	// effect tells whether it changes anything that was read.
	effect() bool
	// registers is what kubelets list when it is done; the zero value for nothing.
	registers() registration
}

// registration is a DaemonSet and the driver that its pods register.
type registration struct {
	Object      inventory.Object
	Provisioner string
}

// setting is a value that an action gives, "" for one that it only depends on.
type setting struct{ what, value string }

// Nodes and csi-proxy come before drivers (KEP-1122), what drivers need before them,
// what waits for them after them, and acknowledgements last.
const (
	rankFirst = iota
	rankNodes
	rankRemove
	rankAccess
	rankDrivers
	// ByHandRank is what a person does: before waits for pods, which may need it.
	ByHandRank
	rankWait
	rankLast
)

// defaults are the methods of an action that changes no fact of the inventory.
type defaults struct{}

func (defaults) apply(*inventory.Inventory)  {}
func (defaults) sets() []setting             { return nil }
func (defaults) rank() int                   { return ByHandRank }
func (defaults) changes() []inventory.Object { return nil }
func (defaults) outcome() *inventory.Driver  { return nil }
func (defaults) effect() bool                { return true }
func (defaults) registers() registration     { return registration{} }

// Rank orders what is due at the same time.
func Rank(a Action) int { return a.rank() }

// Changes are the DaemonSets that an action changes.
func Changes(a Action) []inventory.Object { return a.changes() }

// Outcome is what an action makes of a driver that is there; nil for nothing that is known.
func Outcome(a Action) *inventory.Driver { return a.outcome() }

// Effect tells whether an action changes anything that was read.
func Effect(a Action) bool { return a.effect() }

// Apply makes an inventory what it is when actions are done.
func Apply(inv *inventory.Inventory, list ...Action) {
	for _, a := range list {
		a.apply(inv)
	}
}

// Record is an action as reports show it.
func Record(a Action) finding.Action { return record(a, nil) }

// Records are several, each as if it were alone.
func Records(list []Action) []finding.Action {
	var out []finding.Action
	for _, a := range list {
		out = append(out, Record(a))
	}
	return out
}

// Sequence are the steps of a plan in their order. What a later action sets
// again counts as done when that one is: a plan that runs again never goes back.
func Sequence(steps [][]Action) [][]finding.Action {
	later := map[string][]string{}
	out := make([][]finding.Action, len(steps))
	for i, step := range slices.Backward(steps) {
		out[i] = make([]finding.Action, len(step))
		for j, a := range slices.Backward(step) {
			sets := a.sets()
			var again []string
			if len(sets) > 0 {
				again = later[sets[0].what]
			}
			out[i][j] = record(a, again)
			for _, s := range sets {
				if s.value != "" {
					later[s.what] = append(later[s.what], s.value)
				}
			}
		}
	}
	return out
}

// become writes a driver over the one of its name, where there is one.
func become(inv *inventory.Inventory, to *inventory.Driver) {
	if to != nil && driver(inv, to.Object) != nil {
		put(inv, *to)
	}
}

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

func driver(inv *inventory.Inventory, o inventory.Object) *inventory.Driver {
	i := slices.IndexFunc(inv.Drivers, func(d inventory.Driver) bool { return d.Object == o })
	if i < 0 {
		return nil
	}
	return &inv.Drivers[i]
}

// Saved is the file that keeps a DaemonSet as it was.
func Saved(o inventory.Object) string {
	if o.Namespace == "" {
		return o.Name + "-old.yaml"
	}
	return o.Namespace + "." + o.Name + "-old.yaml"
}
