package action

import (
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/inventory"
)

// UnlabelNodes takes a label off nodes.
type UnlabelNodes struct {
	Nodes      []string
	Key, Value string
}

func (a UnlabelNodes) write(r *record) {
	r.say("unlabel-nodes", "take the label %s off %s", a.Key, inventory.Some(a.Nodes))
	r.Object = "label " + a.Key
	r.run("oc", "label", "node", a.Nodes, a.Key+"-")
	r.undo("oc", "label", "node", a.Nodes, a.Key+"="+a.Value, "--overwrite")
}

// Apply takes it off.
func (a UnlabelNodes) Apply(inv *inventory.Inventory) {
	for i := range inv.Nodes {
		if n := &inv.Nodes[i]; slices.Contains(a.Nodes, n.Name) {
			n.Labels = maps.Clone(n.Labels)
			delete(n.Labels, a.Key)
		}
	}
}
