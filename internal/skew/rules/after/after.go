// Package after holds the check after an update (AFTER).
package after

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/intree"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "AFTER001", Needs: rules.NeedsDrivers, Cluster: afterRollouts, Asks: rules.OfState},
	{ID: "AFTER002", Needs: []inventory.Resource{inventory.Volumes, inventory.Claims}, Cluster: afterMigrated, Asks: rules.OfRest},
	{ID: "AFTER003", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: afterNodes, Asks: rules.OfRest},
	{ID: "AFTER004", Needs: rules.NeedsNodes, Cluster: afterWindows, Asks: rules.OfRest},
}

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
			report(rules.Finding{
				Case: map[bool]string{true: "rolling", false: "not observed"}[r.Observed], Facts: rules.Facts{"set": d}, Evidence: rules.Cite(d.Evidence[:min(2, len(d.Evidence))]),
				Do: []action.Action{action.WaitRollout{Object: d.Object, Strategy: d.Strategy}},
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
		{"oc", "get", "clusteroperators", "storage", "kube-controller-manager"}, {"oc", "get", "csidriver", l.Provisioner},
	}}}
}

// afterNodes is AFTER003: nodes without the driver that serves in-tree volumes
// of Windows pods now.
func afterNodes(snap *snapshot.Snapshot, report rules.Report) {
	for _, use := range snap.InTreeUses() {
		if on, _ := snap.OnCSI(use.Plugin, snap.FromMinor()); on {
			intree.CheckNodes(snap, use, report)
		}
	}
	intree.UnknownVolumes(snap, report)
}

func afterWindows(snap *snapshot.Snapshot, report rules.Report) {
	for _, ns := range snapshot.GroupBy(snap.Nodes, func(n *inventory.Node) string { return behind(snap, n) }) {
		why := behind(snap, ns[0])
		if why == "" {
			continue
		}
		f := rules.Finding{
			Case: "behind", Facts: rules.Facts{"nodes": ns, "why": why, "oldKubelet": oldKubelet(snap, ns[0])}, Same: why, Do: remedy.UpdateWMCO(snap, snap.FromMinor()),
			Evidence: rules.Cite(snapshot.Map(ns, func(n *inventory.Node) inventory.Evidence {
				return inventory.Evidence{Where: n.At.Where, Text: strings.TrimSpace("kubelet " + n.Kubelet + " WMCO " + n.WMCO)}
			})),
		}
		if slices.ContainsFunc(ns, func(n *inventory.Node) bool { return snap.Arriving(n) != nil }) {
			f.Do, f.NoStep = nil, true
			f.Remedy = "do what PROXY001 asks for first: the WMCO that is about to configure them ships no csi-proxy"
		}
		report(f)
	}
}

// behind says how a node lags behind the cluster, "" if it doesn't or if
// nothing tells (NODE001 and NODE002 judge what can't be read).
func behind(snap *snapshot.Snapshot, n *inventory.Node) string {
	if n.WMCO != "" && n.DesiredWMCO != "" && n.WMCO != n.DesiredWMCO {
		return fmt.Sprintf("configured by WMCO %s, to be configured by %s", n.WMCO, n.DesiredWMCO)
	}
	if len(snap.LeftBehind([]*inventory.Node{n})) > 0 {
		if snap.Inventory.Cluster.WMCO == "" {
			return fmt.Sprintf("configured by WMCO %s, other nodes by a newer one", n.WMCO)
		}
		return fmt.Sprintf("configured by WMCO %s, the operator is %s", n.WMCO, snap.Inventory.Cluster.WMCO)
	}
	if oldKubelet(snap, n) {
		server, _, _ := snap.APIServer()
		return fmt.Sprintf("kubelet %s, the API server is %s", n.Kubelet, cmp.Or(snap.Inventory.Cluster.Kubernetes, server.MinorString()))
	}
	return ""
}

func oldKubelet(snap *snapshot.Snapshot, n *inventory.Node) bool {
	kubelet, err := version.ParseKubernetes(n.Kubelet)
	server, _, ok := snap.APIServer()
	return err == nil && ok && (kubelet.Major != server.Major || kubelet.Minor < server.Minor)
}
