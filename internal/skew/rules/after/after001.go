package after

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var after001 = rules.Rule{ID: "AFTER001", Needs: rules.NeedsDrivers, Cluster: afterRollouts, Asks: rules.OfState}

func afterRollouts(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Underway() {
		underWay(snap, report)
		return
	}
	for _, pool := range snap.Inventory.Cluster.Pools {
		if pool.Paused && pool.Updated < pool.Machines {
			report(rules.Finding{Case: "paused", Facts: rules.Facts{"pool": pool}, Do: []action.Action{action.PausePool{Pool: pool.Name, Resume: true, Was: true}}, Evidence: []inventory.Evidence{pool.At}})
		}
	}
	for _, d := range snap.Drivers {
		if d.OS == "windows" && snapshot.ImagesRunning(d) > 1 && snap.Covered(inventory.Pods) {
			continue // SKEW006 says so
		}
		if r := d.Rollout; r != nil && (!r.Observed || r.Updated < r.Desired || d.OS != "windows" && r.Ready < r.Desired) {
			state := "not observed"
			if r.Observed {
				state = "rolling"
			}
			report(rules.Finding{
				Case: state, Facts: rules.Facts{"set": d}, Evidence: rules.Cite(d.Evidence[:min(2, len(d.Evidence))]),
				Do: []action.Action{action.WaitRollout{Object: d.Object, Provisioner: d.Provisioner, Strategy: d.Strategy}},
			})
		}
	}
}

// underWay reports, in the check after an update, that the update
// isn't complete. Rollouts that go with it aren't worth a word each.
func underWay(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase != snapshot.Now {
		return
	}
	report(rules.Finding{
		Case: "underway", Facts: rules.Facts{"cluster": snap.Inventory.Cluster, "failing": snap.Inventory.Cluster.Failing()}, Evidence: rules.Cite(snap.Inventory.Cluster.Evidence),
		Do: []action.Action{action.ByHand{Text: "wait until the update to " + snap.Inventory.Cluster.Updating + " is complete, then run the check again", Look: [][]string{{"oc", "adm", "upgrade"}}}},
	})
}
