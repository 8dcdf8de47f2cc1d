package registration

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// doubleDriver is REG002: two DaemonSets for one provisioner on the same
// Windows nodes, or one that a release will deploy itself.
func doubleDriver(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase == snapshot.Target {
		soonManaged(snap, report)
		proposed(snap, report)
		return
	}
	before := map[string][]*inventory.Driver{}
	for _, b := range snap.WindowsDaemonSets() {
		if b.Provisioner == "" {
			continue
		}
		beside(snap, before[b.Provisioner], b, report)
		before[b.Provisioner] = append(before[b.Provisioner], b)
	}
	if snap.Phase == snapshot.Now {
		stillByHand(snap, before, report)
		copiedMarks(snap, report)
	}
}

// beside judges a DaemonSet against those of its provisioner that come before
// it. One that it meets is enough to say: all pairs of a few thousand would be
// millions.
func beside(snap *snapshot.Snapshot, before []*inventory.Driver, b *inventory.Driver, report rules.Report) {
	var worst rules.Finding
	for _, a := range before {
		if a.Object == b.Object {
			continue
		}
		if f := both(snap, a, b); f.Severity > worst.Severity {
			worst = f
		}
		if worst.Severity == finding.Block {
			break
		}
	}
	if worst.Severity > finding.Pass {
		report(worst)
	}
}

// both judges two DaemonSets of one provisioner; PASS where they never meet.
func both(snap *snapshot.Snapshot, a, b *inventory.Driver) rules.Finding {
	if snap.Operated(b) {
		a, b = b, a // it is b that is to go
	}
	var shared []*inventory.Node
	for _, n := range snap.Scope(a) {
		if slices.Contains(snap.Scope(b), n) {
			shared = append(shared, n)
		}
	}
	f := rules.Finding{Severity: finding.Block, Object: b.Object.String()}
	f.Observed = fmt.Sprintf("%s and %s both run %s on %s", a.Object, b.Object, a.Provisioner, rules.SomeOf(snapshot.NodeNames(shared)))
	switch same := reflect.DeepEqual(a.Scheduling, b.Scheduling); {
	case len(shared) > 0:
	case snap.Inventory.Read[inventory.Nodes].Complete, snapshot.NeverMeet(a.Scheduling, b.Scheduling):
		return rules.Finding{}
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
	case snap.IsPlanned(b):
		f.Remedy = apart(snap, a, b)
	case snap.Operated(a) && !snap.Operated(b):
		// The operator would undo a change of its own.
		f.Remedy, remove.Judge = fmt.Sprintf("delete %s: %s is the operator's, and stays", b.Object, a.Object), ""
		f.Do = []action.Action{remove}
	case f.Severity == finding.Block:
		f.Do = []action.Action{remove}
	}
	f.When = rules.Before
	f.Evidence = rules.Cite(slices.Concat(a.Evidence[:min(1, len(a.Evidence))], b.Evidence[:min(1, len(b.Evidence))]))
	return f
}

// apart says what to do about a planned DaemonSet that meets another: nothing is
// there to be deleted yet.
func apart(snap *snapshot.Snapshot, a, planned *inventory.Driver) string {
	file := snapshot.PlannedFile(planned)
	switch {
	case snap.Operated(a):
		return fmt.Sprintf("don't apply %s of %s: %s is the operator's", planned.Object, file, a.Object)
	case snap.IsPlanned(a):
		return fmt.Sprintf("leave one of them out, or give %s in %s and %s in %s node selectors that don't meet", a.Object, snapshot.PlannedFile(a), planned.Object, file)
	}
	return fmt.Sprintf("let %s in %s choose all nodes of %s, so that it can take its place, or give them node selectors that don't meet", planned.Object, file, a.Object)
}

// stillByHand tells of DaemonSets that an operator of the cluster's own release
// is known to deploy, and hasn't, by provisioner. Where it has there are two,
// which is said of the pair.
func stillByHand(snap *snapshot.Snapshot, all map[string][]*inventory.Driver, report rules.Report) {
	from := snap.Catalog.Release(snap.FromMinor())
	if from == nil {
		return
	}
	for _, d := range snap.WindowsDaemonSets() {
		operators := slices.ContainsFunc(all[d.Provisioner], snap.Operated)
		if operators || !slices.Contains(from.WindowsManaged, d.Line) {
			continue
		}
		f := rules.Finding{Severity: finding.Info, Object: d.Object.String(), Same: "by hand", When: rules.Before}
		f.Observed = fmt.Sprintf("deployed by hand, and no operator's beside it; by the catalog OpenShift %s deploys the Windows DaemonSet of %s itself", snap.FromMinor(), d.Provisioner)
		f.Expected = "the operator's DaemonSet, or yours while there is none"
		f.Why = "yours is the only driver until the operator's is there, and must stay until then"
		f.Evidence = rules.Cite(d.Evidence[:min(2, len(d.Evidence))])
		report(f)
	}
}

// soonManaged tells of DaemonSets that an operator of the target is known to
// deploy. None is to go before that one is there.
func soonManaged(snap *snapshot.Snapshot, report rules.Report) {
	to := snap.Catalog.Release(snap.ToMinor())
	if to == nil {
		return
	}
	prior := snap.Catalog.Release(snap.FromMinor())
	for _, d := range snap.WindowsDaemonSets() {
		if snap.Operated(d) || !slices.Contains(to.WindowsManaged, d.Line) {
			continue
		}
		if prior != nil && slices.Contains(prior.WindowsManaged, d.Line) {
			continue // an earlier hop said so, or what is now
		}
		f := rules.Finding{Severity: finding.Info, Object: d.Object.String(), Same: "by hand", When: rules.After}
		f.Observed = fmt.Sprintf("deployed by hand; by the catalog OpenShift %s deploys the Windows DaemonSet of %s itself", snap.ToMinor(), d.Provisioner)
		f.Expected = "one DaemonSet, once the operator's is there"
		f.Why = "it stays until the operator's DaemonSet is seen in the cluster: a check after the update tells of the two"
		f.Evidence = rules.Cite(d.Evidence[:min(2, len(d.Evidence))])
		report(f)
	}
}

// proposed tells of DaemonSets that an operator of the target would deploy, if a
// proposal were followed. There is nothing to do: only a payload, an operator's
// tree or the cluster itself counts.
func proposed(snap *snapshot.Snapshot, report rules.Report) {
	to, prior := snap.Catalog.Release(snap.ToMinor()), snap.Catalog.Release(snap.FromMinor())
	if to == nil || to.WindowsProposed == nil || prior != nil && prior.WindowsProposed != nil {
		return
	}
	for _, d := range snap.WindowsDaemonSets() {
		if snap.Operated(d) || slices.Contains(to.WindowsManaged, d.Line) || !slices.Contains(to.WindowsProposed.Drivers, d.Line) {
			continue
		}
		report(rules.Finding{
			Severity: finding.Info, Object: d.Object.String(), Same: "proposed", Source: to.WindowsProposed.Source, When: rules.After,
			Observed: fmt.Sprintf("deployed by hand; it is proposed that OpenShift %s deploys the Windows DaemonSet of %s itself", snap.ToMinor(), d.Provisioner),
			Expected: "your DaemonSet, as long as no operator's is there",
			Why:      "a proposal is no release: yours stays, and a check after the update tells of two where an operator brings one",
			Evidence: snap.CatalogEvidence(),
		})
	}
}

// copiedMarks tells of DaemonSets that look like an operator's and can't be:
// they are judged as what they are, the admin's own.
func copiedMarks(snap *snapshot.Snapshot, report rules.Report) {
	for _, d := range snap.WindowsDaemonSets() {
		if !d.OperatorManaged || snap.Operated(d) {
			continue
		}
		f := rules.Finding{Severity: finding.Info, Object: d.Object.String(), Same: "marks"}
		f.Observed = fmt.Sprintf("it carries what OpenShift's operators leave on theirs (an annotation operator.openshift.io/..., an owner, or the release's own image), and %s deploys no Windows DaemonSet of %s",
			rules.ReleaseText(snap.From, "the cluster's release"), cmp.Or(d.Provisioner, "this driver"))
		f.Expected = "no operator's marks on a DaemonSet of your own"
		f.Why = "nobody keeps it at the Linux driver's version, so it is judged as deployed by hand; a copy of the Linux DaemonSet's YAML brings the marks along, and with an owner it is deleted when that is"
		f.Do, f.When = []action.Action{action.EditDriver{Object: d.Object, Text: "take an operator's annotations and owner off " + d.Object.String(),
			Patch: `{"metadata":{"ownerReferences":null,"annotations":{"operator.openshift.io/spec-hash":null,"operator.openshift.io/pull-spec":null}}}`}}, rules.Before
		f.Evidence = rules.Cite(d.Evidence[:min(1, len(d.Evidence))])
		report(f)
	}
}
