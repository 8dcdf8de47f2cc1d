package registration

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg004 = rules.Rule{ID: "REG004", Needs: rules.NeedsDrivers, Driver: notReady, Cluster: plannedNowhere, At: rules.ExceptTarget}

// notReady is REG004: pods of a Windows DaemonSet that aren't ready. A
// DaemonSet that no node matches is common and harmless.
func notReady(v *snapshot.View, report rules.Report) {
	r := v.DaemonSet.Rollout
	if v.At.Phase == snapshot.Planned || r == nil || r.Desired > 0 && r.Ready >= r.Desired {
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

func plannedNowhere(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snap.PlannedWindows {
		if snap.Phase != snapshot.Planned || !snap.MatchesNoNode(p) {
			continue
		}
		f := rules.Finding{
			Case: "planned nowhere", Facts: rules.Facts{"planned": p.Object, "file": snapshot.PlannedFile(p)},
			Evidence: rules.Cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], snapshot.NodeEvidence(snap.Nodes))),
		}
		if of := snap.Replaced()[p]; len(of) > 0 {
			f.Case, f.Facts["present"] = "planned nowhere instead of one", of[0].Object
		}
		report(f)
	}
}
