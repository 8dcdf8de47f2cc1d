package update

import (
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var update005 = rules.Rule{ID: "UPDATE005", Cluster: pausedPools, Asks: rules.OfHops, At: rules.AtNow}

// pausedPools is UPDATE005: pools whose nodes don't follow an update that isn't a Control
// Plane Only one.
func pausedPools(snap *snapshot.Snapshot, report rules.Report) {
	paused := snapshot.Select(snap.Inventory.Cluster.Pools, func(p inventory.Pool) bool { return p.Paused })
	if len(paused) == 0 || snap.Hop > 0 || snap.ControlPlaneOnly() != "" || snap.Request.EUS != nil && *snap.Request.EUS || snapshot.HalfWay(snap.Request, &snap.Inventory.Cluster, snap.From) {
		return
	}
	f := rules.Finding{Case: "paused"}
	var names []string
	for _, p := range paused {
		names, f.Evidence = append(names, p.Name), append(f.Evidence, p.At)
		f.Do = append(f.Do, action.PausePool{Pool: p.Name, Resume: true, Was: true})
	}
	f.Object, f.Facts = "MachineConfigPool "+strings.Join(names, ", "), rules.Facts{"pools": names}
	report(f)
}
