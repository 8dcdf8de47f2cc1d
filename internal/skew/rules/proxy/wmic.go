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
)

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
	needsWMIC(v, sure, finding.Warn, report)
	needsWMIC(v, unsure, finding.Unknown, report)
}

// runsWMIC reports a driver that runs wmic itself: no csi-proxy changes that.
func runsWMIC(v *snapshot.View, report rules.Report) {
	d, known := v.DaemonSet, v.Line != nil
	runs := "version " + d.Version.Version.String() + " runs wmic itself"
	if !known {
		runs = "it may run wmic itself, which depends on its version: that isn't known"
	}
	may := map[finding.Severity]string{finding.Warn: "(Windows build %d or newer)", finding.Unknown: "if the Windows build is %d or newer"}
	for _, severity := range []finding.Severity{finding.Warn, finding.Unknown} {
		nodes := snapshot.Select(v.Nodes, func(n *inventory.Node) bool {
			unsure := n.Build == 0 || !known
			return (n.Build == 0 || n.Build >= snapshot.Server2025) && unsure == (severity == finding.Unknown)
		})
		if len(nodes) == 0 {
			continue
		}
		f := rules.Finding{Severity: severity, Nodes: nodes, NoStep: !known, Late: true}
		f.Observed = fmt.Sprintf("%s; it is on %s, which may have none "+may[severity], runs, rules.SomeOf(snapshot.NodeNames(nodes)), snapshot.Server2025)
		f.Expected = "a driver that doesn't run wmic"
		f.Why = whyWMIC + ": Get-Command wmic on it tells"
		f.Remedy, f.When = cmp.Or(wmicFree(v), "see that wmic is there: Get-Command wmic"), rules.Before
		if nodes[0].Build == 0 {
			f.Do = remedy.LookAtBuild(nodes[0].Name)
		}
		if severity == finding.Warn {
			f.Do = withoutRunning(v)
		}
		f.Source = lineSource(v)
		f.Evidence = rules.Cite(slices.Concat([]inventory.Evidence{d.Version.At}, snapshot.NodeEvidence(nodes)))
		report(f)
	}
}

const whyWMIC = "the driver asks for the machine's serial number when it registers; without wmic that fails and the node never gets the driver. Whether wmic is missing wasn't seen on a real node"

func needsWMIC(v *snapshot.View, ss []snapshot.CSIProxy, sev finding.Severity, report rules.Report) {
	if len(ss) == 0 {
		return
	}
	f := rules.Finding{Severity: sev, Nodes: nodesOf(ss), NoStep: v.Line == nil} // SKEW005's step does it
	nodes := rules.SomeOf(serviceNodes(ss))
	f.Observed = fmt.Sprintf("%s runs wmic for the driver on %s, which may have none (Windows build %d or newer)", proxyText(ss), nodes, snapshot.Server2025)
	if sev == finding.Unknown {
		f.Observed = fmt.Sprintf("on %s the driver may need a wmic that isn't there: %s", nodes, unsureWMIC(v, ss[0]))
	}
	f.Expected = "csi-proxy without wmic, or a driver that doesn't ask for the BIOS serial number"
	f.Why = whyWMIC
	f.Remedy, f.Do = withoutWMIC(v, ss)
	f.When, f.Evidence = rules.Before, rules.Cite(serviceFacts(ss))
	report(f)
}

func unsureWMIC(v *snapshot.View, s snapshot.CSIProxy) string {
	switch {
	case v.Line == nil:
		return "its version isn't known"
	case s.Node.Build == 0:
		return "the node's Windows build isn't known"
	}
	return unknownProxy(s)
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

// laterAllDo tells whether r and every newer release do without wmic.
func laterAllDo(snap *snapshot.Snapshot, r catalog.CSIProxyRelease) bool {
	return !slices.ContainsFunc(snap.Catalog.CSIProxy, func(o catalog.CSIProxyRelease) bool { return o.WMIC && notOlder(o.Version, r.Version) })
}
