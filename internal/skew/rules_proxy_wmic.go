package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// server2025 is Windows Server 2025. Whether wmic is there by default wasn't
// confirmed; reports of it missing are of newer Windows builds.
const server2025 = 26100

// proxyWMIC is PROXY004: a driver that needs GetBIOSSerialNumber of a csi-proxy
// that runs wmic for it, or runs wmic itself, on a Windows that may have none.
func proxyWMIC(w *world) []draft {
	if w.Phase == Target {
		return nil
	}
	var said []draft
	for _, d := range w.windows() {
		switch line := w.lineAt(d); {
		case line != nil && line.RunsWMIC, line == nil && d.HostProcess && w.anyRunsWMIC(d):
			said = append(said, w.runsWMIC(d, line != nil)...)
		case d.Mode() == "csi-proxy" && w.anyWMIC(d) && (line == nil || line.WMIC):
			said = append(said, w.asksForWMIC(d, line)...)
		}
	}
	return said
}

// asksForWMIC parts the nodes by what is known of csi-proxy and Windows there.
func (w *world) asksForWMIC(d *inventory.Driver, line *catalog.Line) []draft {
	var sure, unsure []proxyService
	for _, s := range w.services(d) {
		switch r := w.proxyRelease(s); {
		case s.is != present, r != nil && !r.WMIC, s.node.Build != 0 && s.node.Build < server2025:
		case r == nil || s.node.Build == 0 || line == nil:
			unsure = append(unsure, s)
		default:
			sure = append(sure, s)
		}
	}
	return append(w.needsWMIC(d, sure, finding.Warn), w.needsWMIC(d, unsure, finding.Unknown)...)
}

// runsWMIC speaks of a driver that runs wmic itself: no csi-proxy mends that.
func (w *world) runsWMIC(d *inventory.Driver, known bool) []draft {
	var sure, unsure []*inventory.Node
	for _, n := range w.Scope(d) {
		switch {
		case n.Build != 0 && n.Build < server2025:
		case n.Build == 0 || !known:
			unsure = append(unsure, n)
		default:
			sure = append(sure, n)
		}
	}
	runs := "version " + d.Version.Version.String() + " runs wmic itself"
	if !known {
		runs = "it may run wmic itself, which depends on its version: that isn't known"
	}
	var said []draft
	for _, part := range []struct {
		nodes    []*inventory.Node
		severity finding.Severity
		text     string
	}{
		{sure, finding.Warn, fmt.Sprintf("which may have none (Windows build %d or newer)", server2025)},
		{unsure, finding.Unknown, fmt.Sprintf("which may have none if the Windows build is %d or newer", server2025)},
	} {
		if len(part.nodes) == 0 {
			continue
		}
		f := draft{Severity: part.severity, Object: d.Object.String(), Nodes: part.nodes, NoStep: !known, Late: true}
		f.Observed = fmt.Sprintf("%s; it is on %s, %s", runs, someOf(nodeNames(part.nodes)), part.text)
		f.Expected = "a driver that doesn't run wmic"
		f.Why = "the driver asks for the machine's serial number when it registers; without wmic that fails and the node never gets the driver. Whether wmic is missing wasn't seen on a real node: Get-Command wmic on it tells"
		f.Remedy, f.When = cmp.Or(w.wmicFree(d), "see that wmic is there: Get-Command wmic"), before
		if part.nodes[0].Build == 0 {
			f.Do = lookAtBuild(part.nodes[0].Name)
		}
		if part.severity == finding.Warn {
			f.Do = w.withoutRunning(d)
		}
		f.Source = w.lineSource(d)
		f.Evidence = cite(slices.Concat([]inventory.Evidence{d.Version.At}, evidenceOf(part.nodes)))
		said = append(said, f)
	}
	return said
}

// anyWMIC tells whether a line of the driver needs wmic.
func (w *world) anyWMIC(d *inventory.Driver) bool {
	known := w.lineOf(d)
	return known != nil && slices.ContainsFunc(known.Lines, func(l catalog.Line) bool { return l.WMIC })
}

func (w *world) anyRunsWMIC(d *inventory.Driver) bool {
	known := w.lineOf(d)
	return known != nil && slices.ContainsFunc(known.Lines, func(l catalog.Line) bool { return l.RunsWMIC })
}

func (w *world) needsWMIC(d *inventory.Driver, ss []proxyService, sev finding.Severity) []draft {
	if len(ss) == 0 {
		return nil
	}
	f := draft{Severity: sev, Object: d.Object.String(), Nodes: nodesOf(ss), NoStep: w.lineAt(d) == nil} // SKEW005's step mends that
	nodes := someOf(serviceNodes(ss))
	f.Observed = fmt.Sprintf("%s runs wmic for the driver on %s, which may have none (Windows build %d or newer)", proxyText(ss), nodes, server2025)
	if sev == finding.Unknown {
		f.Observed = fmt.Sprintf("on %s the driver may need a wmic that isn't there: %s", nodes, w.unsureWMIC(d, ss[0]))
	}
	f.Expected = "csi-proxy without wmic, or a driver that doesn't ask for the BIOS serial number"
	f.Why = "the driver asks for the machine's serial number when it registers; without wmic that fails and the node never gets the driver. Whether wmic is missing wasn't seen on a real node"
	f.Remedy, f.Do = w.withoutWMIC(d, ss)
	f.When = before
	f.Evidence = cite(serviceFacts(ss))
	return []draft{f}
}

func (w *world) unsureWMIC(d *inventory.Driver, s proxyService) string {
	switch {
	case w.lineAt(d) == nil:
		return "its version isn't known"
	case s.node.Build == 0:
		return "the node's Windows build isn't known"
	}
	return unknownProxy(s)
}

// withoutWMIC is a driver or a csi-proxy that does without: in words, and what
// does the first that can be done.
func (w *world) withoutWMIC(d *inventory.Driver, ss []proxyService) (remedy string, do []action.Action) {
	var ways []string
	if way := w.wmicFree(d); way != "" {
		ways, do = append(ways, way), w.withoutRunning(d)
	}
	for _, r := range w.proxyReleases() {
		if r.WMIC || !slices.Contains(r.Groups, "system-v1alpha1") || !w.laterAllDo(r) {
			continue
		}
		if !ss[0].wmco || ss[0].owner != nil || w.wmcoWith(r.Version) != nil {
			raise := w.raiseProxy(r.Version, ss)
			if ways = append(ways, summaries(action.Records(raise))); do == nil {
				do = raise
			}
		}
		break
	}
	if ss[0].node.Build == 0 {
		ways, do = append(ways, "show the node's build"), lookAtBuild(ss[0].node.Name)
	}
	return strings.Join(ways, "; or "), do
}

func lookAtBuild(node string) []action.Action {
	return []action.Action{action.Gather{Text: "show the node's build", Get: []string{"get", "node", node, "-o", "jsonpath={.status.nodeInfo.kernelVersion}"}}}
}

// wmicFree names the first version since which the driver does without wmic;
// "" for none.
func (w *world) wmicFree(d *inventory.Driver) string {
	line := w.wmicFreeLine(d)
	if line == nil {
		return ""
	}
	text := fmt.Sprintf("deploy the complete Windows manifest of %s %s or newer, which runs no wmic", w.lineOf(d).Title, line.From)
	if line.Unreleased {
		text += fmt.Sprintf(" (on %s it wasn't released; until it is, the version that SKEW001 names runs wmic too: see whether wmic is there, and keep the pods off nodes without it by a node selector)", w.cat.AsOf)
	}
	return text
}

// wmicFreeLine is the first line since which a driver does without wmic; nil
// for none.
func (x *index) wmicFreeLine(d *inventory.Driver) *catalog.Line {
	known := x.lineOf(d)
	if known == nil {
		return nil
	}
	var first *catalog.Line
	for i := len(known.Lines) - 1; i >= 0 && !known.Lines[i].WMIC && !known.Lines[i].RunsWMIC; i-- {
		first = &known.Lines[i]
	}
	return first
}

// wmicFreeVersion is its first version, where that was released.
func (x *index) wmicFreeVersion(d *inventory.Driver) (version.Driver, bool) {
	line := x.wmicFreeLine(d)
	if line == nil || line.Unreleased {
		return version.Driver{}, false
	}
	v, err := version.ParseDriver(line.From)
	return v, err == nil
}

// withoutRunning brings a driver to that version; nil where there is none.
func (w *world) withoutRunning(d *inventory.Driver) []action.Action {
	to, ok := w.wmicFreeVersion(d)
	if !ok {
		return nil
	}
	for _, v := range w.Views {
		if v.D == d {
			return v.change(to)
		}
	}
	return nil
}

// laterAllDo tells whether r and every newer release do without wmic.
func (w *world) laterAllDo(r *catalog.CSIProxyRelease) bool {
	return !slices.ContainsFunc(w.proxyReleases(), func(o *catalog.CSIProxyRelease) bool {
		return o.WMIC && proxyVersion(o.Version).Compare(proxyVersion(r.Version)) >= 0
	})
}
