package registration

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg004 = rules.Rule{ID: "REG004", Needs: rules.NeedsDrivers, Driver: notReady, At: rules.AtNow}

// notReady is REG004: pods of a Windows DaemonSet that aren't ready. A
// DaemonSet that no node matches is common and harmless.
func notReady(v *snapshot.View, report rules.Report) {
	r := v.DaemonSet.Rollout
	if r == nil || r.Desired > 0 && r.Ready >= r.Desired {
		return
	}
	wait := action.WaitRollout{Object: v.DaemonSet.Object, Provisioner: v.DaemonSet.Provisioner}
	if v.DaemonSet.Strategy == "OnDelete" {
		wait.Ready = r.Desired
	}
	f := rules.Finding{Case: "not ready", Facts: rules.Facts{"rollout": r, "gone": remedy.RunsGone(v)}, Evidence: rules.Cite(v.DaemonSet.Evidence), Do: []action.Action{wait}}
	if down := snapshot.Select(v.Nodes, func(n *inventory.Node) bool { return !n.Ready }); len(down) > 0 && len(down) == int(r.Desired-r.Ready) {
		names := snapshot.NodeNames(down)
		f.Case, f.Facts["down"] = "nodes not ready", down
		f.Do = []action.Action{action.ByHand{Text: "bring back " + rules.SomeOf(names) + ", or take out of the cluster what stays away", Look: [][]string{slices.Concat([]string{"oc", "describe", "node"}, names)}}}
	}
	switch broken := snapshot.Select(listed(v), func(n *inventory.Node) bool { return n.Ready && reasonOn(v, n.Name) != "" }); {
	case r.Desired == 0:
		f.Case, f.Do = "no pods", nil
	case len(broken) > 0:
		stuck(v, &f, broken)
	case f.Case == "not ready" && r.Ready == 0 && r.Observed && r.Updated >= r.Desired && len(using(v, listed(v))) > 0:
		f.Case, f.Do = "none ready", repair(v, v.Nodes[0].Name, "until it is ready")
	}
	report(f)
}

// stuck is of pods that don't become ready by waiting: a volume of the driver can't be
// mounted on their nodes, whatever CSINode lists.
func stuck(v *snapshot.View, f *rules.Finding, broken []*inventory.Node) {
	f.Case, f.Facts["reason"], f.Facts["nodes"] = "broken", reasonOn(v, broken[0].Name), broken
	if used := using(v, broken); len(used) > 0 || v.DaemonSet.Rollout.Ready == 0 && len(using(v, v.Nodes)) > 0 {
		f.Case = "broken, in use"
	}
	f.Do = repair(v, broken[0].Name, "until it is ready: "+reasonOn(v, broken[0].Name))
}

// listed are the driver's nodes whose CSINode has it, and which no other DaemonSet serves:
// of the others REG001 and REG002 tell.
func listed(v *snapshot.View) []*inventory.Node {
	missing, _ := v.At.Lacking(v.DaemonSet.Provisioner, v.Nodes)
	for _, d := range v.At.DaemonSetsOf(v.DaemonSet.Provisioner) {
		if d != v.DaemonSet {
			missing = append(missing, v.At.Scope(d)...)
		}
	}
	return snapshot.Select(v.Nodes, func(n *inventory.Node) bool { return !slices.Contains(missing, n) })
}

func using(v *snapshot.View, nodes []*inventory.Node) []*inventory.Node {
	used, _ := v.At.Using(v.DaemonSet.Provisioner, false, nodes)
	return used
}

// reasonOn is why the driver's pod on a node isn't ready; "" where nothing says.
func reasonOn(v *snapshot.View, node string) string {
	for _, b := range v.DaemonSet.Broken {
		if slices.Contains(b.Nodes, node) {
			return b.Container + " is in " + b.Reason
		}
	}
	return ""
}
