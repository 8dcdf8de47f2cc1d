package action

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// SetPodSecurity lets privileged pods into a namespace.
type SetPodSecurity struct {
	defaults
	Namespace string
	// Was are its labels now; nil where they weren't read.
	Was *inventory.Namespace
}

func (a SetPodSecurity) apply(inv *inventory.Inventory) {
	c := &inv.Cluster
	c.Namespaces = slices.Clone(c.Namespaces)
	n := c.Namespace(a.Namespace)
	if n == nil {
		c.Namespaces = append(c.Namespaces, inventory.Namespace{Name: a.Namespace})
		n = c.Namespace(a.Namespace)
	}
	n.Enforce, n.Sync = "privileged", "false"
}

func (SetPodSecurity) rank() int { return rankAccess }
