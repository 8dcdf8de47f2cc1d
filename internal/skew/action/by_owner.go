package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// ByOwner is a change of an object that a program made from a source of its own.
// The program would undo what oc changes, so the change is made in that source.
type ByOwner struct {
	defaults
	Owner  inventory.Owner
	Change Action
}

// record is the change's, without what changes the cluster: what makes a manifest or an
// image for the source is left, and what tells that it is done.
func (a ByOwner) record(r finding.Action) finding.Action {
	r.Kind, r.Summary = "by-owner", fmt.Sprintf("in the source of %s: %s", owner(a.Owner), r.Summary)
	r.Commands = slices.DeleteFunc(r.Commands, func(line string) bool { return strings.HasPrefix(line, "oc ") })
	if !slices.ContainsFunc(r.Commands, func(line string) bool { return !strings.HasPrefix(line, "test ") }) {
		r.Commands = nil // nothing is made of what they save
	}
	r.Undo = nil
	r.Asks = used(r.Asks, slices.Concat(r.Commands, r.Wait, []string{r.Done}))
	r.NoUndo = "it is undone in the source of " + owner(a.Owner)
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
	if o.Kind == o.Manager { // an owner reference
		return o.Manager + " " + name
	}
	return strings.TrimSpace(o.Manager+" "+o.Kind) + " " + name
}
