package action

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// DeleteDaemonSet takes a DaemonSet away that another one replaces.
type DeleteDaemonSet struct {
	defaults
	Object inventory.Object
	Why    string
	// Without says which pods have no driver then, and for how long; "" for none.
	Without string
	// Judge is what only a person can tell first.
	Judge string
}

func (DeleteDaemonSet) kind() string { return "delete-daemonset" }

func (a DeleteDaemonSet) apply(inv *inventory.Inventory) {
	inv.Drivers = slices.DeleteFunc(slices.Clone(inv.Drivers), func(d inventory.Driver) bool { return d.Object == a.Object })
	inv.Proxies = slices.DeleteFunc(slices.Clone(inv.Proxies), func(p inventory.Proxy) bool { return p.Object == a.Object })
}

func (DeleteDaemonSet) rank() int { return rankRemove }

func (a DeleteDaemonSet) changes() []inventory.Object { return []inventory.Object{a.Object} }
