package registration

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// doubleDriver is REG002: two DaemonSets for one provisioner on the same
// Windows nodes. They are the same at the target.
func doubleDriver(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase == snapshot.Target {
		return
	}
	before := map[string][]*snapshot.View{}
	for _, b := range snap.Views {
		if of := b.DaemonSet.Provisioner; of != "" {
			beside(snap, before[of], b, report)
			before[of] = append(before[of], b)
		}
	}
}

// beside judges a DaemonSet against those of its provisioner that come before
// it. One that it meets is enough to say: all pairs of a few thousand would be
// millions.
func beside(snap *snapshot.Snapshot, before []*snapshot.View, b *snapshot.View, report rules.Report) {
	var worst rules.Finding
	for _, a := range before {
		if a.DaemonSet.Object == b.DaemonSet.Object {
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
func both(snap *snapshot.Snapshot, first, second *snapshot.View) rules.Finding {
	a, b := first.DaemonSet, second.DaemonSet
	why := better(first, second)
	if other := better(second, first); snap.Operated(b) || !snap.Operated(a) && other != "" {
		a, b, why = b, a, other // it is b that is to go
	}
	shared := snapshot.Select(snap.Scope(a), func(n *inventory.Node) bool { return slices.Contains(snap.Scope(b), n) })
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
	which := fmt.Sprintf("which of %s and %s to keep", a.Object, b.Object)
	remove := action.DeleteDaemonSet{Object: b.Object, Why: a.Object.String() + " runs the driver on the same nodes", Judge: which}
	switch {
	case snap.Operated(a) && !snap.Operated(b):
		// The operator would undo a change of its own.
		f.Remedy, remove.Judge = fmt.Sprintf("delete %s: %s is the operator's, and stays", b.Object, a.Object), ""
		f.Do = []action.Action{remove}
	case f.Severity == finding.Block && why != "":
		f.Remedy = fmt.Sprintf("keep %s, which %s: delete %s, or give them node selectors that don't meet", a.Object, why, b.Object)
		remove.Why += ", and " + why
		f.Do = []action.Action{remove}
	case f.Severity == finding.Block:
		f.Do = []action.Action{action.ByHand{Object: b.Object.String(), Text: f.Remedy, Judge: which, First: true, Look: [][]string{{"oc", "get", "daemonsets", "--all-namespaces", "-o", "wide"}}}}
	}
	f.When, f.Evidence = rules.Before, rules.Cite(slices.Concat(a.Evidence[:min(1, len(a.Evidence))], b.Evidence[:min(1, len(b.Evidence))]))
	return f
}

// better says what makes a the one of two DaemonSets to keep; "" where nothing does, or
// something speaks for b.
func better(a, b *snapshot.View) string {
	var signs []string
	for _, sign := range []struct {
		text string
		of   func(*snapshot.View) (n int, known bool)
	}{
		{"isn't being deleted", func(v *snapshot.View) (int, bool) { return -truth(v.DaemonSet.Deleting), true }},
		{"has an owner", func(v *snapshot.View) (int, bool) {
			return truth(len(v.DaemonSet.Owners) > 0), !v.DaemonSet.OperatorManaged
		}},
		{"has its pods ready", func(v *snapshot.View) (int, bool) {
			r := v.DaemonSet.Rollout
			return truth(r != nil && r.Ready >= r.Desired), r != nil && r.Desired > 0
		}},
		{"is of a known version", func(v *snapshot.View) (int, bool) { return truth(v.DaemonSet.Version.Known), true }},
		{"is nearer to the Linux version", func(v *snapshot.View) (int, bool) {
			windows, known := v.Windows()
			low, high, same := v.Linux().Distance(windows)
			n := min(low, -high)
			if !same {
				n = math.MinInt // another major
			} else if windows.Core() == v.Linux().Newest().Core() {
				n++
			}
			return n, known && v.Linux().Known() && !v.HasRival()
		}},
	} {
		of, known := sign.of(a)
		other, both := sign.of(b)
		switch {
		case !known || !both:
		case of < other:
			return ""
		case of > other:
			signs = append(signs, sign.text)
		}
	}
	return rules.And(signs)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// byOperator is REG002 of a DaemonSet of the admin's own, where an operator deploys such
// a one, will do so, or seems to have done so. It is to stay until the operator's is
// there: only a payload, an operator's tree or the cluster itself counts.
func byOperator(v *snapshot.View, report rules.Report) {
	d := v.DaemonSet
	if v.FollowsLinux() {
		return
	}
	from, to := v.At.Catalog.Release(v.At.FromMinor()), v.At.Catalog.Release(v.At.ToMinor())
	f := rules.Finding{Evidence: rules.Cite(d.Evidence[:min(2, len(d.Evidence))])}
	handOver := []action.Action{action.HandOver{Object: d.Object, Provisioner: d.Provisioner}}
	switch {
	case v.At.Phase == snapshot.Now:
		if d.OperatorManaged {
			report(copiedMarks(v))
		}
		if !manages(from, d) || slices.ContainsFunc(v.At.DaemonSetsOf(d.Provisioner), v.At.Operated) {
			return // of two the pair tells
		}
		f.Case, f.Do = "by hand now", handOver
	case manages(from, d):
		return // an earlier hop said so, or what is now
	case manages(to, d):
		f.Case, f.Do = "by hand", handOver
	case to != nil && to.WindowsProposed != nil && slices.Contains(to.WindowsProposed.Drivers, d.Line) && (from == nil || from.WindowsProposed == nil):
		f.Case, f.Source, f.Evidence = "proposed", to.WindowsProposed.Source, v.At.CatalogEvidence()
	default:
		return
	}
	report(f)
}

func manages(r *catalog.Release, d *inventory.Driver) bool {
	return r != nil && slices.Contains(r.WindowsManaged, d.Line)
}

// copiedMarks tells of a DaemonSet that looks like an operator's and can't be: it is
// judged as what it is, the admin's own.
func copiedMarks(v *snapshot.View) rules.Finding {
	d := v.DaemonSet
	return rules.Finding{
		Case: "an operator's marks", Facts: rules.Facts{"release": rules.ReleaseText(v.At.From, "the cluster's release")}, Evidence: rules.Cite(d.Evidence[:min(1, len(d.Evidence))]),
		Do: []action.Action{action.EditDriver{Object: d.Object, Text: "take an operator's annotations and owner off " + d.Object.String(),
			Patch: `{"metadata":{"ownerReferences":null,"annotations":{"operator.openshift.io/spec-hash":null,"operator.openshift.io/pull-spec":null}}}`}},
	}
}

var reg002 = rules.Rule{ID: "REG002", Needs: rules.NeedsDrivers, Driver: byOperator, Cluster: doubleDriver}
