package action

import (
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// UnlabelNodes takes a label off nodes.
type UnlabelNodes struct {
	defaults
	Nodes      []string
	Key, Value string
}

func (a UnlabelNodes) apply(inv *inventory.Inventory) {
	for i := range inv.Nodes {
		if n := &inv.Nodes[i]; slices.Contains(a.Nodes, n.Name) {
			n.Labels = maps.Clone(n.Labels)
			delete(n.Labels, a.Key)
		}
	}
}
