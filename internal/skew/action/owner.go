package action

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// ByOwner is a change of an object that a program made from a source of its own.
// The program would undo what oc changes, so the change is made in that source.
type ByOwner struct {
	Owner  inventory.Owner
	Change Action
}

func (a ByOwner) write(r *record) {
	a.Change.write(r)
	r.say("by-owner", "in the source of %s: %s", owner(a.Owner), r.Summary)
	r.Commands, r.Undo = nil, nil
	r.Asks = slices.DeleteFunc(r.Asks, func(ask finding.Ask) bool {
		return !strings.Contains(strings.Join(append(r.Wait, r.Done), " "), "$"+ask.Name)
	})
	r.NoUndo = "it is undone in that source"
	r.Judge = a.Owner.Manager + " would undo a change by oc: make it in the source of " + owner(a.Owner) + ", and let " + a.Owner.Manager + " apply it"
}

// Apply makes the change.
func (a ByOwner) Apply(inv *inventory.Inventory) { a.Change.Apply(inv) }

// owner names what an object was made from: Argo CD's Application argocd/storage.
func owner(o inventory.Owner) string {
	if o.Name == "" {
		return o.Manager
	}
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return strings.TrimSpace(o.Manager+" "+o.Kind) + " " + name
}
