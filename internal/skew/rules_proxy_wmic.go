package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
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
			f.Remedy += "\nor show the node's build:\noc get node " + part.nodes[0].Name + " -o jsonpath='{.status.nodeInfo.kernelVersion}'"
		}
		if part.severity == finding.Warn {
			f.Step = w.wmicFreeStep(d)
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
	f.Remedy, f.When = w.withoutWMIC(d, ss), before
	if sev == finding.Warn && strings.HasPrefix(f.Remedy, "deploy") && !strings.Contains(f.Remedy, "\nor ") {
		f.Step = w.wmicFreeStep(d)
	}
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

// withoutWMIC names the first driver line and the first csi-proxy that do
// without.
func (w *world) withoutWMIC(d *inventory.Driver, ss []proxyService) string {
	var ways []string
	if way := w.wmicFree(d); way != "" {
		ways = append(ways, way)
	}
	for _, r := range w.proxyReleases() {
		if !r.WMIC && slices.Contains(r.Groups, "system-v1alpha1") && w.laterAllDo(r) {
			if !ss[0].wmco || ss[0].owner != nil || w.wmcoWith(r.Version) != "" {
				ways = append(ways, w.raiseProxy(r.Version, ss))
			}
			break
		}
	}
	if ss[0].node.Build == 0 {
		ways = append(ways, "show the node's build:\noc get node "+ss[0].node.Name+" -o jsonpath='{.status.nodeInfo.kernelVersion}'")
	}
	return strings.Join(ways, "\nor ")
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

// wmicFreeStep is the plan's step to that version; nil where there is none.
func (w *world) wmicFreeStep(d *inventory.Driver) *move {
	to, ok := w.wmicFreeVersion(d)
	if !ok {
		return nil
	}
	for _, v := range w.Views {
		if v.D == d {
			return v.step(v.change(to))
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
