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
	wait := action.WaitRollout{Object: v.DaemonSet.Object}
	if v.DaemonSet.Strategy == "OnDelete" {
		wait.Ready = r.Desired
	}
	f := rules.Finding{Case: "not ready", Facts: rules.Facts{"rollout": r, "gone": remedy.RunsGone(v)}, Evidence: rules.Cite(v.DaemonSet.Evidence), Do: []action.Action{wait}}
	if down := snapshot.Select(v.Nodes, func(n *inventory.Node) bool { return !n.Ready }); len(down) > 0 && len(down) == int(r.Desired-r.Ready) {
		names := snapshot.NodeNames(down)
		f.Case, f.Facts["down"] = "nodes not ready", down
		f.Do = []action.Action{action.ByHand{Text: "bring back " + rules.SomeOf(names) + ", or take out of the cluster what stays away", Look: [][]string{slices.Concat([]string{"oc", "describe", "node"}, names)}}}
	}
	if r.Desired == 0 {
		f.Case, f.Do = "no pods", nil
	}
	report(f)
}
