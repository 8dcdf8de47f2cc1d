// Package action holds what an admin can do about a finding, as values: what it
// does in words, the commands that do it, how to tell that it is done, how to
// undo it, and what it makes of a cluster. A plan applies actions to an
// inventory before it chooses the next one, and bake writes its folder from the
// same options.
//
// The set of actions is closed. The package runs nothing, and doesn't choose:
// the rules of package skew do.
package action

import (
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// Action is one thing to do.
type Action interface {
	// Apply makes an inventory what it is when the action is done.
	Apply(*inventory.Inventory)
	// write fills the record; only this package's types are actions.
	write(*record)
}

// Record is an action as reports show it.
func Record(a Action) finding.Action {
	r := &record{}
	a.write(r)
	return r.Action
}

// Records are several.
func Records(list []Action) []finding.Action {
	var out []finding.Action
	for _, a := range list {
		out = append(out, Record(a))
	}
	return out
}

// nothing is what an action applies that changes no fact of the inventory.
type nothing struct{}

func (nothing) Apply(*inventory.Inventory) {}

// driver finds a DaemonSet in an inventory; nil for none.
func driver(inv *inventory.Inventory, o inventory.Object) *inventory.Driver {
	i := slices.IndexFunc(inv.Drivers, func(d inventory.Driver) bool { return d.Object == o })
	if i < 0 {
		return nil
	}
	return &inv.Drivers[i]
}
