package skew

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// doubleDriver is REG002: two DaemonSets for one provisioner on the same
// Windows nodes, or one that a release will deploy itself.
func doubleDriver(w *world) []draft {
	if w.Phase == Target {
		return w.soonManaged()
	}
	before := map[string][]*inventory.Driver{}
	var said []draft
	for _, b := range w.windows() {
		if b.Provisioner == "" {
			continue
		}
		said = append(said, w.beside(before[b.Provisioner], b)...)
		before[b.Provisioner] = append(before[b.Provisioner], b)
	}
	if w.Phase == Now {
		said = append(said, w.stillByHand(before)...)
		said = append(said, w.mistakable()...)
	}
	return said
}

// beside judges a DaemonSet against those of its provisioner that stand before
// it. One that it meets is enough to say: all pairs of a few thousand would be
// millions.
func (w *world) beside(before []*inventory.Driver, b *inventory.Driver) []draft {
	var said []draft
	for _, a := range before {
		if a.Object == b.Object {
			continue
		}
		pair := w.both(a, b)
		if len(pair) > 0 && pair[0].Severity == finding.Block {
			return pair
		}
		if said == nil {
			said = pair
		}
	}
	return said
}

// both judges two DaemonSets of one provisioner.
func (w *world) both(a, b *inventory.Driver) []draft {
	if w.operated(b) {
		a, b = b, a // it is b that is to go
	}
	var shared []*inventory.Node
	for _, n := range w.Scope(a) {
		if slices.Contains(w.Scope(b), n) {
			shared = append(shared, n)
		}
	}
	f := draft{Severity: finding.Block, Object: b.Object.String()}
	f.Observed = fmt.Sprintf("%s and %s both run %s on %s", a.Object, b.Object, a.Provisioner, someOf(nodeNames(shared)))
	switch same := reflect.DeepEqual(a.Scheduling, b.Scheduling); {
	case len(shared) > 0:
	case w.inv.Read[inventory.Nodes].Complete, neverMeet(a.Scheduling, b.Scheduling):
		return nil
	case same:
		f.Observed = fmt.Sprintf("%s and %s both run %s and choose the same nodes", a.Object, b.Object, a.Provisioner)
	default:
		f.Severity = finding.Unknown
		f.Observed = fmt.Sprintf("%s and %s both run %s; whether on the same nodes isn't known, no Windows nodes were read", a.Object, b.Object, a.Provisioner)
	}
	f.Expected, f.Same = "one DaemonSet of a driver on a node", a.Object.String()
	f.Why = "the kubelet takes one driver of a name; the second is refused, or takes over the socket of the first"
	f.Remedy = fmt.Sprintf("keep one of %s and %s: delete the other, or give them node selectors that don't meet", a.Object, b.Object)
	remove := action.DeleteDaemonSet{Object: b.Object, Why: a.Object.String() + " runs the driver on the same nodes", Judge: fmt.Sprintf("which of %s and %s to keep", a.Object, b.Object)}
	switch {
	case w.isPlanned(b):
		f.Remedy = w.apart(a, b)
	case w.operated(a) && !w.operated(b):
		// The operator would undo a change of its own.
		f.Remedy, remove.Judge = fmt.Sprintf("delete %s: %s is the operator's, and stays", b.Object, a.Object), ""
		f.Do = []action.Action{remove}
	case f.Severity == finding.Block:
		f.Do = []action.Action{remove}
	}
	f.When = before
	f.Evidence = cite(slices.Concat(a.Evidence[:min(1, len(a.Evidence))], b.Evidence[:min(1, len(b.Evidence))]))
	return []draft{f}
}

// apart says what to do about a planned DaemonSet that meets another: nothing is
// there to be deleted yet.
func (w *world) apart(a, planned *inventory.Driver) string {
	file := plannedFile(planned)
	switch {
	case w.operated(a):
		return fmt.Sprintf("don't apply %s of %s: %s is the operator's", planned.Object, file, a.Object)
	case w.isPlanned(a):
		return fmt.Sprintf("leave one of them out, or give %s in %s and %s in %s node selectors that don't meet", a.Object, plannedFile(a), planned.Object, file)
	}
	return fmt.Sprintf("let %s in %s choose all nodes of %s, so that it can take its place, or give them node selectors that don't meet", planned.Object, file, a.Object)
}

// neverMeet tells whether no node can have both: the selectors want two values of
// one label.
func neverMeet(a, b inventory.Scheduling) bool {
	for key, value := range a.NodeSelector {
		if other, both := b.NodeSelector[key]; both && other != value {
			return true
		}
	}
	return false
}

// stillByHand tells of DaemonSets that an operator of the cluster's own release
// is known to deploy, and hasn't, by provisioner. Where it has there are two,
// which is said of the pair.
func (w *world) stillByHand(all map[string][]*inventory.Driver) []draft {
	from := w.cat.Release(w.from())
	if from == nil {
		return nil
	}
	var said []draft
	for _, d := range w.windows() {
		operators := slices.ContainsFunc(all[d.Provisioner], w.operated)
		if operators || !slices.Contains(from.WindowsManaged, d.Line) {
			continue
		}
		f := draft{Severity: finding.Info, Object: d.Object.String(), Same: "by hand", Source: managedWindows, When: before}
		f.Observed = fmt.Sprintf("deployed by hand, and no operator's beside it; by the catalog OpenShift %s deploys the Windows DaemonSet of %s itself", w.from(), d.Provisioner)
		f.Expected = "the operator's DaemonSet, or yours while there is none"
		f.Why = "yours is the only driver until the operator's is there, and must stay until then"
		f.Evidence = cite(d.Evidence[:min(2, len(d.Evidence))])
		said = append(said, f)
	}
	return said
}

// soonManaged tells of DaemonSets that an operator of the target is known to
// deploy. None is to go before that one is there.
func (w *world) soonManaged() []draft {
	to := w.cat.Release(w.to())
	if to == nil {
		return nil
	}
	prior := w.cat.Release(w.from())
	var said []draft
	for _, d := range w.windows() {
		if w.operated(d) || !slices.Contains(to.WindowsManaged, d.Line) {
			continue
		}
		if prior != nil && slices.Contains(prior.WindowsManaged, d.Line) {
			continue // an earlier hop said so, or what is now
		}
		f := draft{Severity: finding.Info, Object: d.Object.String(), Same: "by hand", Source: managedWindows, When: after}
		f.Observed = fmt.Sprintf("deployed by hand; by the catalog OpenShift %s deploys the Windows DaemonSet of %s itself", w.to(), d.Provisioner)
		f.Expected = "one DaemonSet, once the operator's is there"
		f.Why = "it stays until the operator's DaemonSet is seen in the cluster: a check after the update tells of the two"
		f.Evidence = cite(d.Evidence[:min(2, len(d.Evidence))])
		said = append(said, f)
	}
	return said
}
