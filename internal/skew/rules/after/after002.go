package after

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var after002 = rules.Rule{ID: "AFTER002", Needs: []inventory.Resource{inventory.Volumes, inventory.Claims}, Cluster: afterMigrated, Asks: rules.OfRest}

// afterMigrated is AFTER002: volumes and claims that should have been migrated
// and don't say so.
func afterMigrated(snap *snapshot.Snapshot, report rules.Report) {
	left := slices.DeleteFunc(slices.Clone(snap.Inventory.Leftovers), func(l inventory.Leftover) bool {
		m := snap.Catalog.MigrationOf(l.InTree, snap.FromMinor())
		byHand := l.ProvisionedBy == "" // kube-controller-manager never marks those
		return byHand || l.MigratedTo != "" && l.MigratedTo == l.Provisioner || m == nil || !snapshot.ByCSI(m.Linux)
	})
	for _, ls := range snapshot.GroupBy(left, func(l inventory.Leftover) string { return l.InTree + " " + l.Object.Kind }) {
		names := snapshot.Map(ls, func(l inventory.Leftover) string { return strings.TrimPrefix(l.Object.String(), l.Object.Kind+" ") })
		report(rules.Finding{
			Case: "not migrated", Facts: rules.Facts{"of": ls[0], "count": len(ls), "names": names}, Same: ls[0].Object.Kind, Do: migrate(ls[0]),
			Evidence: rules.Cite(snapshot.Map(ls, func(l inventory.Leftover) inventory.Evidence { return l.At })),
		})
	}
}

func migrate(l inventory.Leftover) []action.Action {
	return []action.Action{action.ByHand{Text: "see that the storage operator is healthy and the CSIDriver is there", Look: [][]string{
		{"oc", "get", "clusteroperators", "storage", "kube-controller-manager"}, {"oc", "get", "csidriver/" + l.Provisioner},
	}}}
}
