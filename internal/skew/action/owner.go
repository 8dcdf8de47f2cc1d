package action

import (
	"fmt"
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

// record is the change's, without commands: only what tells that it is done is left.
func (a ByOwner) record(r finding.Action) finding.Action {
	r.Kind, r.Summary = "by-owner", fmt.Sprintf("in the source of %s: %s", owner(a.Owner), r.Summary)
	r.Commands, r.Undo = nil, nil
	r.Asks = used(r.Asks, append(slices.Clone(r.Wait), r.Done))
	r.NoUndo = "it is undone in that source"
	r.Judge = fmt.Sprintf("%[1]s would undo a change by oc: make it in the source of %[2]s, and let %[1]s apply it", a.Owner.Manager, owner(a.Owner))
	return r
}

func (a ByOwner) apply(inv *inventory.Inventory) { a.Change.apply(inv) }

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
