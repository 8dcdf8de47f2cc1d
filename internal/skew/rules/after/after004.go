package after

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var after004 = rules.Rule{ID: "AFTER004", Needs: rules.NeedsNodes, Cluster: afterWindows, Asks: rules.OfRest}

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
