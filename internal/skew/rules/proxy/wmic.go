package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// proxyWMIC is PROXY004: a driver that needs GetBIOSSerialNumber of a csi-proxy
// that runs wmic for it, or runs wmic itself, on a Windows that may have none.
func proxyWMIC(snap *snapshot.Snapshot, report rules.Report) {
	for _, d := range snap.WindowsDaemonSets() {
		switch line := snap.LineAt(d); {
		case line != nil && line.RunsWMIC, line == nil && d.HostProcess && anyLine(snap, d, func(l catalog.Line) bool { return l.RunsWMIC }):
			runsWMIC(snap, d, line != nil, report)
		case d.Mode() == "csi-proxy" && anyLine(snap, d, func(l catalog.Line) bool { return l.WMIC }) && (line == nil || line.WMIC):
			asksForWMIC(snap, d, line, report)
		}
	}
}

// asksForWMIC parts the nodes by what is known of csi-proxy and Windows there.
func asksForWMIC(snap *snapshot.Snapshot, d *inventory.Driver, line *catalog.Line, report rules.Report) {
	var sure, unsure []snapshot.CSIProxy
	for _, s := range services(snap, d) {
		switch r := proxyRelease(snap, s); {
		case s.Is != snapshot.Present, r != nil && !r.WMIC, s.Node.Build != 0 && s.Node.Build < snapshot.Server2025:
		case r == nil || s.Node.Build == 0 || line == nil:
			unsure = append(unsure, s)
		default:
			sure = append(sure, s)
		}
	}
	needsWMIC(snap, d, sure, finding.Warn, report)
	needsWMIC(snap, d, unsure, finding.Unknown, report)
}

// runsWMIC reports a driver that runs wmic itself: no csi-proxy changes that.
func runsWMIC(snap *snapshot.Snapshot, d *inventory.Driver, known bool, report rules.Report) {
	nodes := snapshot.Select(snap.Scope(d), func(n *inventory.Node) bool { return n.Build == 0 || n.Build >= snapshot.Server2025 })
	unsure, sure := snapshot.Part(nodes, func(n *inventory.Node) bool { return n.Build == 0 || !known })
	runs := "version " + d.Version.Version.String() + " runs wmic itself"
	if !known {
		runs = "it may run wmic itself, which depends on its version: that isn't known"
	}
	for _, part := range []struct {
		nodes    []*inventory.Node
		severity finding.Severity
		text     string
	}{
		{sure, finding.Warn, fmt.Sprintf("which may have none (Windows build %d or newer)", snapshot.Server2025)},
		{unsure, finding.Unknown, fmt.Sprintf("which may have none if the Windows build is %d or newer", snapshot.Server2025)},
	} {
		if len(part.nodes) == 0 {
			continue
		}
		f := rules.Finding{Severity: part.severity, Object: d.Object.String(), Nodes: part.nodes, NoStep: !known, Late: true}
		f.Observed = fmt.Sprintf("%s; it is on %s, %s", runs, rules.SomeOf(snapshot.NodeNames(part.nodes)), part.text)
		f.Expected = "a driver that doesn't run wmic"
		f.Why = "the driver asks for the machine's serial number when it registers; without wmic that fails and the node never gets the driver. Whether wmic is missing wasn't seen on a real node: Get-Command wmic on it tells"
		f.Remedy, f.When = cmp.Or(wmicFree(snap, d), "see that wmic is there: Get-Command wmic"), rules.Before
		if part.nodes[0].Build == 0 {
			f.Do = remedy.LookAtBuild(part.nodes[0].Name)
		}
		if part.severity == finding.Warn {
			f.Do = withoutRunning(snap, d)
		}
		f.Source = lineSource(snap, d)
		f.Evidence = rules.Cite(slices.Concat([]inventory.Evidence{d.Version.At}, snapshot.NodeEvidence(part.nodes)))
		report(f)
	}
}

// anyLine tells whether a line of the driver is of a kind.
func anyLine(snap *snapshot.Snapshot, d *inventory.Driver, is func(catalog.Line) bool) bool {
	known := snap.LineOf(d)
	return known != nil && slices.ContainsFunc(known.Lines, is)
}

func needsWMIC(snap *snapshot.Snapshot, d *inventory.Driver, ss []snapshot.CSIProxy, sev finding.Severity, report rules.Report) {
	if len(ss) == 0 {
		return
	}
	f := rules.Finding{Severity: sev, Object: d.Object.String(), Nodes: nodesOf(ss), NoStep: snap.LineAt(d) == nil} // SKEW005's step does it
	nodes := rules.SomeOf(serviceNodes(ss))
	f.Observed = fmt.Sprintf("%s runs wmic for the driver on %s, which may have none (Windows build %d or newer)", proxyText(ss), nodes, snapshot.Server2025)
	if sev == finding.Unknown {
		f.Observed = fmt.Sprintf("on %s the driver may need a wmic that isn't there: %s", nodes, unsureWMIC(snap, d, ss[0]))
	}
	f.Expected = "csi-proxy without wmic, or a driver that doesn't ask for the BIOS serial number"
	f.Why = "the driver asks for the machine's serial number when it registers; without wmic that fails and the node never gets the driver. Whether wmic is missing wasn't seen on a real node"
	f.Remedy, f.Do = withoutWMIC(snap, d, ss)
	f.When = rules.Before
	f.Evidence = rules.Cite(serviceFacts(ss))
	report(f)
}

func unsureWMIC(snap *snapshot.Snapshot, d *inventory.Driver, s snapshot.CSIProxy) string {
	switch {
	case snap.LineAt(d) == nil:
		return "its version isn't known"
	case s.Node.Build == 0:
		return "the node's Windows build isn't known"
	}
	return unknownProxy(s)
}

// withoutWMIC is a driver or a csi-proxy that does without: in words, and what
// does the first that can be done.
func withoutWMIC(snap *snapshot.Snapshot, d *inventory.Driver, ss []snapshot.CSIProxy) (advice string, do []action.Action) {
	var ways []string
	if way := wmicFree(snap, d); way != "" {
		ways, do = append(ways, way), withoutRunning(snap, d)
	}
	for _, r := range proxyReleases(snap) {
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
func wmicFree(snap *snapshot.Snapshot, d *inventory.Driver) string {
	line := wmicFreeLine(snap, d)
	if line == nil {
		return ""
	}
	text := fmt.Sprintf("deploy the complete Windows manifest of %s %s or newer, which runs no wmic", snap.LineOf(d).Title, line.From)
	if line.Unreleased {
		text += fmt.Sprintf(" (on %s it wasn't released; until it is, the version that SKEW001 names runs wmic too: see whether wmic is there, and keep the pods off nodes without it by a node selector)", snap.Catalog.AsOf)
	}
	return text
}

// wmicFreeLine is the first line since which a driver does without wmic; nil
// for none.
func wmicFreeLine(snap *snapshot.Snapshot, d *inventory.Driver) *catalog.Line {
	known := snap.LineOf(d)
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
func withoutRunning(snap *snapshot.Snapshot, d *inventory.Driver) []action.Action {
	line := wmicFreeLine(snap, d)
	if line == nil || line.Unreleased {
		return nil
	}
	i := slices.IndexFunc(snap.Views, func(v *snapshot.View) bool { return v.DaemonSet == d })
	to, err := version.ParseDriver(line.From)
	if i < 0 || err != nil {
		return nil
	}
	return remedy.Change(snap.Views[i], to)
}

// laterAllDo tells whether r and every newer release do without wmic.
func laterAllDo(snap *snapshot.Snapshot, r *catalog.CSIProxyRelease) bool {
	return !slices.ContainsFunc(proxyReleases(snap), func(o *catalog.CSIProxyRelease) bool {
		return o.WMIC && snapshot.CSIProxyVersion(o.Version).Compare(snapshot.CSIProxyVersion(r.Version)) >= 0
	})
}
