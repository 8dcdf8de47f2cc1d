package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// ApplyPlanned applies manifests that the admin has planned.
type ApplyPlanned struct {
	defaults
	File string
	// Sets are the planned DaemonSets of the file, Present those of the same name
	// that are there.
	Sets    []inventory.Driver
	Present []inventory.Object
}

func (a ApplyPlanned) apply(inv *inventory.Inventory) {
	for _, p := range a.Sets {
		put(inv, p)
	}
}

func (ApplyPlanned) rank() int { return rankDrivers }

func (a ApplyPlanned) changes() []inventory.Object { return a.Present }
