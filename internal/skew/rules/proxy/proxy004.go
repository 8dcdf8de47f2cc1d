package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var proxy004 = rules.Rule{ID: "PROXY004", Needs: rules.NeedsScope, Driver: proxyWMIC, Starts: true, At: rules.AtNow}

// proxyWMIC is PROXY004: a driver that needs GetBIOSSerialNumber of a csi-proxy
// that runs wmic for it, or runs wmic itself, on a Windows that may have none.
func proxyWMIC(v *snapshot.View, report rules.Report) {
	runs, asks := func(l *catalog.Line) bool { return l.RunsWMIC }, func(l *catalog.Line) bool { return l.WMIC }
	switch {
	case v.Line != nil && v.Line.RunsWMIC, v.Line == nil && v.DaemonSet.HostProcess && v.LineWith(runs) != nil:
		runsWMIC(v, report)
	case v.DaemonSet.Mode() == "csi-proxy" && v.LineWith(asks) != nil && (v.Line == nil || v.Line.WMIC):
		asksForWMIC(v, report)
	}
}

// asksForWMIC parts the nodes by what is known of csi-proxy and Windows there.
func asksForWMIC(v *snapshot.View, report rules.Report) {
	var sure, unsure []snapshot.CSIProxy
	for _, s := range services(v) {
		switch r := proxyRelease(v.At, s); {
		case s.Is != snapshot.Present, r != nil && !r.WMIC, s.Node.Build != 0 && s.Node.Build < snapshot.Server2025:
		case r == nil || s.Node.Build == 0 || v.Line == nil:
			unsure = append(unsure, s)
		default:
			sure = append(sure, s)
		}
	}
	needsWMIC(v, sure, "csi-proxy runs wmic", report)
	needsWMIC(v, unsure, "may need wmic", report)
}

// runsWMIC reports a driver that runs wmic itself: no csi-proxy changes that.
func runsWMIC(v *snapshot.View, report rules.Report) {
	d, known := v.DaemonSet, v.Line != nil
	for _, severity := range []finding.Severity{finding.Warn, finding.Unknown} {
		nodes := snapshot.Select(v.Nodes, func(n *inventory.Node) bool {
			unsure := n.Build == 0 || !known
			return (n.Build == 0 || n.Build >= snapshot.Server2025) && unsure == (severity == finding.Unknown)
		})
		if len(nodes) == 0 {
			continue
		}
		f := rules.Finding{
			Case: "runs wmic", Facts: rules.Facts{"nodes": nodes, "known": known, "sure": severity == finding.Warn, "build": snapshot.Server2025}, Severity: severity, Nodes: nodes, NoStep: !known,
			Remedy: wmicFree(v), Source: lineSource(v), Evidence: rules.Cite(slices.Concat([]inventory.Evidence{d.Version.At}, snapshot.NodeEvidence(nodes))),
		}
		if nodes[0].Build == 0 {
			f.Do = remedy.LookAtBuild(nodes[0].Name)
		}
		if severity == finding.Warn {
			f.Do = withoutRunning(v)
		}
		report(f)
	}
}

func needsWMIC(v *snapshot.View, ss []snapshot.CSIProxy, name string, report rules.Report) {
	if len(ss) == 0 {
		return
	}
	f := rules.Finding{
		Case: name, Facts: rules.Facts{"proxy": &ss[0], "text": proxyText(ss), "nodes": nodesOf(ss), "build": snapshot.Server2025},
		Nodes: nodesOf(ss), NoStep: v.Line == nil, Evidence: rules.Cite(serviceEvidence(ss)), // SKEW005's step does it
	}
	f.Remedy, f.Do = withoutWMIC(v, ss)
	report(f)
}

// withoutWMIC is a driver or a csi-proxy that does without: in words, and what
// does the first that can be done.
func withoutWMIC(v *snapshot.View, ss []snapshot.CSIProxy) (advice string, do []action.Action) {
	snap := v.At
	var ways []string
	if way := wmicFree(v); way != "" {
		ways, do = append(ways, way), withoutRunning(v)
	}
	for _, r := range snap.Catalog.CSIProxy {
		if r.WMIC || !slices.Contains(r.Groups, "system-v1alpha1") || !laterAllDo(snap, r) {
			continue
		}
		if !ss[0].WMCO || ss[0].Owner != nil || wmcoWith(snap, r.Version) != nil {
			raise := raiseProxy(snap, r.Version, ss)
			if ways = append(ways, rules.Summaries(action.Records(raise))); do == nil {
				do = raise
			}
		}
		break
	}
	if ss[0].Node.Build == 0 {
		ways, do = append(ways, "show the node's build"), remedy.LookAtBuild(ss[0].Node.Name)
	}
	return strings.Join(ways, "; or "), do
}

// wmicFree names the first version since which the driver does without wmic;
// "" for none.
func wmicFree(v *snapshot.View) string {
	line := wmicFreeLine(v.Catalog)
	if line == nil {
		return ""
	}
	text := fmt.Sprintf("deploy the complete Windows manifest of %s %s or newer, which runs no wmic", v.Catalog.Title, line.From)
	if line.Unreleased {
		text += fmt.Sprintf(" (on %s it wasn't released; until it is, the version that SKEW001 names runs wmic too: see whether wmic is there, and keep the pods off nodes without it by a node selector)", v.At.Catalog.AsOf)
	}
	return text
}

// wmicFreeLine is the first line since which a driver does without wmic; nil
// for none.
func wmicFreeLine(known *catalog.Driver) *catalog.Line {
	if known == nil {
		return nil
	}
	var first *catalog.Line
	for i := len(known.Lines) - 1; i >= 0 && !known.Lines[i].WMIC && !known.Lines[i].RunsWMIC; i-- {
		first = &known.Lines[i]
	}
	return first
}

// withoutRunning brings a driver to the first version that does without, where
// that was released; nil where there is none.
func withoutRunning(v *snapshot.View) []action.Action {
	line := wmicFreeLine(v.Catalog)
	if line == nil || line.Unreleased {
		return nil
	}
	return remedy.StepTo(v, line)
}

func laterAllDo(snap *snapshot.Snapshot, r catalog.CSIProxyRelease) bool {
	return !slices.ContainsFunc(snap.Catalog.CSIProxy, func(o catalog.CSIProxyRelease) bool { return o.WMIC && notOlder(o.Version, r.Version) })
}
