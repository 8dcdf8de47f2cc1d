package proxy

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// proxyDouble is PROXY005: a csi-proxy DaemonSet on nodes whose WMCO runs one
// as a service, now or after the update.
func proxyDouble(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snapshot.Pointers(snap.Inventory.Proxies) {
		var both, unsure []snapshot.CSIProxy
		for _, n := range snap.Nodes {
			if !p.Scheduling.Matches(*n) || n.WMCO == "" {
				continue
			}
			s := snap.CSIProxyOn(n)
			switch now := s.WMCO; {
			case snap.Phase == snapshot.Target && !now && snap.CSIProxyAfter(n).WMCO:
				both = append(both, snap.CSIProxyAfter(n))
			case snap.Phase != snapshot.Now:
			case now:
				both = append(both, s)
			case snap.WMCORow(n.WMCO) == nil && snap.ServiceList(n.WMCO) == nil:
				unsure = append(unsure, s)
			}
		}
		run := "two run"
		if snap.Phase == snapshot.Target {
			run = "two will run"
		}
		twoOwners(snap, p, both, run, report)
		twoOwners(snap, p, unsure, "two may run", report)
	}
}

func twoOwners(snap *snapshot.Snapshot, p *inventory.Proxy, ss []snapshot.CSIProxy, name string, report rules.Report) {
	if len(ss) == 0 {
		return
	}
	f := rules.Finding{
		Case: name, Facts: rules.Facts{"set": p.Object, "nodes": nodesOf(ss), "wmco": ss[0].Node.WMCO}, Same: string(snap.Phase), Evidence: rules.Cite(slices.Concat([]inventory.Evidence{p.At}, serviceEvidence(ss))),
		Do: deleteProxy(p, "WMCO runs csi-proxy as a service on its nodes"),
	}
	if name == "two may run" {
		text := fmt.Sprintf("see whether csi-proxy is among WMCO's services, and delete %s only if it is", p.Object)
		f.Do = []action.Action{action.Gather{Text: text, Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "configmap/windows-services-" + ss[0].Node.WMCO, "-o", "jsonpath={.data.services}"}}}
	} else if others := onlyProxyOf(snap, p, ss); len(others) > 0 {
		f.Do, f.Remedy = nil, fmt.Sprintf("keep %s off %s, and on %s: give the nodes that WMCO doesn't configure a label (csi-proxy=daemonset), and the DaemonSet a node selector for it", p.Object, rules.SomeOf(serviceNodes(ss)), rules.SomeOf(others))
	}
	report(f)
}

// onlyProxyOf are the nodes on which a DaemonSet's csi-proxy is the only one:
// those of its nodes that aren't among ss.
func onlyProxyOf(snap *snapshot.Snapshot, p *inventory.Proxy, ss []snapshot.CSIProxy) []string {
	return snapshot.NodeNames(snapshot.Select(snap.Nodes, func(n *inventory.Node) bool {
		return p.Scheduling.Matches(*n) && !slices.Contains(nodesOf(ss), n)
	}))
}

var proxy005 = rules.Rule{ID: "PROXY005", Needs: rules.NeedsScope, Cluster: proxyDouble}
