package node

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// builtFor is NODE006: a Windows that WMCO for the release doesn't take on the platform.
func builtFor(snap *snapshot.Snapshot, report rules.Report) {
	r := snap.CatalogRelease()
	if r == nil || !snap.UsesWMCO() || snap.Hops > 0 && snap.Phase == snapshot.Now {
		return
	}
	platform := platformOf(snap)
	taken, known := snap.Catalog.WindowsTaken(r.OpenShift, platform)
	if !known || len(taken) == 0 {
		return
	}
	before, _ := snap.Catalog.WindowsTaken(snap.FromMinor(), platform)
	names := snapshot.Map(taken, func(w catalog.WindowsBuild) string {
		return strings.TrimSuffix(fmt.Sprintf("%s (from %d.%d on)", w.Name, w.Build, w.Revision), fmt.Sprintf(" (from %d.0 on)", w.Build))
	})
	seen := snapshot.Select(snap.Nodes, func(n *inventory.Node) bool { return n.Build != 0 })
	for _, nodes := range snapshot.GroupBy(seen, func(n *inventory.Node) string { return windowsOf(n, taken) }) {
		n := nodes[0]
		f := rules.Finding{
			Case:  "not taken",
			Facts: rules.Facts{"nodes": nodes, "build": snapshot.BuildName(n.Build), "minor": r.OpenShift, "takes": rules.And(names), "platform": platform},
			Same:  windowsOf(n, taken), Evidence: snapshot.NodeEvidence(nodes),
			Do: []action.Action{action.ByHand{
				Text:  "add machines of a Windows that WMCO takes first, " + preferred(taken) + " say, move the pods to them, then remove " + rules.SomeOf(snapshot.NodeNames(nodes)),
				First: true, Look: lookAtAll,
			}},
		}
		is := func(w catalog.WindowsBuild) bool { return w.Build == n.Build }
		switch i := slices.IndexFunc(taken, is); {
		case i < 0 && (snap.Hops == 0 || !slices.ContainsFunc(before, is)):
			f.Severity = finding.Warn // it runs though it isn't taken now: WMCO's code looks at no build
		case i < 0:
		case n.Revision != 0 && n.Revision < taken[i].Revision:
			f.Case, f.Facts["revision"], f.Facts["least"] = "not patched", n.Revision, taken[i].Revision
			f.Do = []action.Action{action.ByHand{Text: "install the updates of Windows on " + rules.SomeOf(snapshot.NodeNames(nodes)) + ", one node at a time, drained",
				Look: lookAtAll}}
		case taken[i].Doubted(r.OpenShift):
			f.Case, f.Facts["doubt"] = "in doubt", taken[i].Doubt
		default:
			continue
		}
		report(f)
	}
}

// preferred is the Windows that bake template makes by default, where WMCO takes it.
func preferred(taken []catalog.WindowsBuild) string {
	for _, w := range taken {
		if w.Build == snapshot.Server2022 {
			return w.Name
		}
	}
	return taken[len(taken)-1].Name
}

// platformOf is the cluster's platform, or else the one of its drivers; "" where nothing says.
func platformOf(snap *snapshot.Snapshot) string {
	platform := snap.Inventory.Cluster.Platform
	for _, d := range snap.Drivers {
		if of := snap.LineOf(d); platform == "" && of != nil {
			platform = of.Platform
		}
	}
	return platform
}

// windowsOf puts nodes together for which the same is said.
func windowsOf(n *inventory.Node, taken []catalog.WindowsBuild) string {
	old := slices.ContainsFunc(taken, func(w catalog.WindowsBuild) bool {
		return w.Build == n.Build && n.Revision != 0 && n.Revision < w.Revision
	})
	if !old {
		return strconv.Itoa(n.Build)
	}
	return fmt.Sprintf("%d.%d", n.Build, n.Revision)
}

var node006 = rules.Rule{ID: "NODE006", Needs: rules.NeedsNodes, Cluster: builtFor}
