package proxy

import (
	"slices"

	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

func proxyVulnerable(snap *snapshot.Snapshot, report rules.Report) {
	bad := snapshot.Select(snapshot.Map(snap.Nodes, snap.CSIProxyOn), func(s snapshot.CSIProxy) bool {
		r := proxyRelease(snap, s)
		return r != nil && len(r.CVEs) > 0
	})
	for _, ss := range snapshot.GroupBy(bad, func(s snapshot.CSIProxy) string { return s.Version.String() + s.By }) {
		report(rules.Finding{
			Case: "vulnerable", Facts: rules.Facts{"proxy": &ss[0], "text": proxyText(ss), "nodes": nodesOf(ss), "cves": proxyRelease(snap, ss[0]).CVEs, "safe": firstSafe(snap)},
			Same: ss[0].By, Do: raiseProxy(snap, firstSafe(snap), ss), Evidence: rules.Cite(serviceEvidence(ss)),
		})
	}
}

func firstSafe(snap *snapshot.Snapshot) string {
	safe := ""
	for _, r := range slices.Backward(snap.Catalog.CSIProxy) {
		if len(r.CVEs) > 0 {
			break
		}
		safe = r.Version
	}
	return safe
}

var proxy007 = rules.Rule{ID: "PROXY007", Needs: rules.NeedsNodes, Cluster: proxyVulnerable, At: rules.AtNow}
