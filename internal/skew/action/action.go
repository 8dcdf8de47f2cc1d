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
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Action is one thing to do.
type Action interface {
	// apply makes an inventory what it is when the action is done. Only this
	// package's types are actions.
	apply(*inventory.Inventory)
}

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
			what, value := sets(a)
			out[i][j] = record(a, later[what])
			if value != "" {
				later[what] = append(later[what], value)
			}
			if a, ok := a.(ReplaceDriver); ok {
				later["pod of "+a.Object.String()] = append(later["pod of "+a.Object.String()], a.Image)
			}
		}
	}
	return out
}

// sets is what an action gives a value that a later action may change, and the
// value; "" for nothing. What it changes in a pod is gone with a replacement.
func sets(a Action) (what, value string) {
	switch a := a.(type) {
	case SetImage:
		if !a.Registrar {
			return "image of " + a.Object.String(), a.Image
		}
	case BuildImage:
		return "image of " + a.Object.String(), a.Image
	case ReplaceDriver:
		return "image of " + a.Object.String(), a.Image
	case DeployDriver:
		return "image of " + a.Becomes.Object.String(), a.Becomes.Image.Reference
	case SetChannel:
		return "channel", a.Channel
	case EditDriver:
		return "pod of " + a.Object.String(), ""
	}
	return "", ""
}

// Rank orders what is due at the same time: nodes and csi-proxy come before
// drivers (KEP-1122), what drivers need before them, what waits for them after
// them, and acknowledgements last.
func Rank(a Action) int {
	switch a := a.(type) {
	case Gather, FinishWMCO:
		return 0
	case UpdateWMCO, RemoveWMCO, PausePool, ReleaseNodes:
		return 1
	case DeleteDaemonSet:
		return 2
	case ByHand:
		if a.First {
			return 2
		}
	case SetPodSecurity, BindSCC:
		return 3
	case BuildImage, SetImage, ReplaceDriver, DeployDriver, ApplyPlanned, EditDriver:
		return 4
	case WaitRollout:
		return 6
	case AckGate, SetChannel:
		return 7
	}
	return ByHandRank
}

// ByHandRank is what a person does: before waits for pods, which may need it.
const ByHandRank = 5

// These change no fact of the inventory.

func (BindSCC) apply(*inventory.Inventory)      {}
func (Check) apply(*inventory.Inventory)        {}
func (Gather) apply(*inventory.Inventory)       {}
func (PausePool) apply(*inventory.Inventory)    {}
func (ReadPayload) apply(*inventory.Inventory)  {}
func (ReleaseNodes) apply(*inventory.Inventory) {}
func (SetChannel) apply(*inventory.Inventory)   {}

// ByHand is what no command does.
type ByHand struct {
	Text string
	// Object is what it is about, "" for none.
	Object string
	// Save is an object that is kept in a file first; nil for none. Look are command
	// lines that show what helps, as words, Lines such lines as the shell reads them.
	Save  *inventory.Object
	Look  [][]string
	Lines []string
	// Judge is what only a person can tell first; "" for nothing.
	Judge string
	// First: what is chosen decides what of the rest is needed.
	First bool
	// Becomes is what a driver is then; nil where nothing that was read changes.
	Becomes *inventory.Driver
}

func (a ByHand) apply(inv *inventory.Inventory) { become(inv, a.Becomes) }

// Check looks at the result with verify. Built is the release that an image was built
// for, whose labels and payload tell that both sides are of one commit; "" for none.
type Check struct{ Built string }

// Gather reads what is missing, for the next check.
type Gather struct {
	Text string
	// Get are what oc reads, File is where to; "" prints it.
	Get  []string
	File string
	// Into are what a must-gather lacks instead, whose reader knows where it belongs.
	Into []*inventory.Gather
}

// ReadPayload writes a release's payload to a file that --release-image takes.
type ReadPayload struct {
	Text string
}

// ByOwner is a change of an object that a program made from a source of its own.
// The program would undo what oc changes, so the change is made in that source.
type ByOwner struct {
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

// Becomes is what an action makes of a driver that is there; nil for nothing that
// is known.
func Becomes(a Action) *inventory.Driver {
	switch a := a.(type) {
	case ReplaceDriver:
		return &a.Becomes
	case EditDriver:
		return a.Becomes
	case ByHand:
		return a.Becomes
	}
	return nil
}
