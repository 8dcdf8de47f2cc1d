package skew

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// server2025 is Windows Server 2025. Whether wmic is there by default wasn't
// confirmed; reports of it missing are of newer Windows builds.
const server2025 = 26100

// proxyWMIC is PROXY004: a driver that needs GetBIOSSerialNumber of a csi-proxy
// that runs wmic for it, on a Windows that may have no wmic.
func proxyWMIC(w *world) []draft {
	if w.Phase == Target {
		return nil
	}
	var said []draft
	for _, d := range w.pipeDrivers() {
		if w.lineAt(d) != nil && !w.lineAt(d).WMIC || !w.anyWMIC(d) {
			continue
		}
		var sure, unsure []proxyService
		for _, s := range w.services(d) {
			switch r := w.proxyRelease(s); {
			case s.is != present, r != nil && !r.WMIC, s.node.Build != 0 && s.node.Build < server2025:
			case r == nil || s.node.Build == 0 || w.lineAt(d) == nil:
				unsure = append(unsure, s)
			default:
				sure = append(sure, s)
			}
		}
		said = append(said, w.needsWMIC(d, sure, finding.Warn)...)
		said = append(said, w.needsWMIC(d, unsure, finding.Unknown)...)
	}
	return said
}

// anyWMIC tells whether a line of the driver needs wmic.
func (w *world) anyWMIC(d *inventory.Driver) bool {
	known := w.lineOf(d)
	return known != nil && slices.ContainsFunc(known.Lines, func(l catalog.Line) bool { return l.WMIC })
}

func (w *world) needsWMIC(d *inventory.Driver, ss []proxyService, sev finding.Severity) []draft {
	if len(ss) == 0 {
		return nil
	}
	f := draft{Severity: sev, Object: d.Object.String()}
	nodes := someOf(serviceNodes(ss))
	f.Observed = fmt.Sprintf("%s runs wmic for the driver on %s, which may have none (Windows build %d or newer)", proxyText(ss), nodes, server2025)
	if sev == finding.Unknown {
		f.Observed = fmt.Sprintf("on %s the driver may need a wmic that isn't there: %s", nodes, w.unsureWMIC(d, ss[0]))
	}
	f.Expected = "csi-proxy without wmic, or a driver that doesn't ask for the BIOS serial number"
	f.Why = "the driver asks for the machine's serial number when it registers; without wmic that fails and the node never gets the driver. Whether wmic is missing wasn't seen on a real node"
	f.Remedy, f.When = w.withoutWMIC(d, ss), before
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
	if known := w.lineOf(d); known != nil {
		last := slices.Collect(func(yield func(string) bool) {
			for _, l := range slices.Backward(known.Lines) {
				if l.WMIC {
					return
				}
				if !yield(l.From) {
					return
				}
			}
		})
		if len(last) > 0 {
			ways = append(ways, fmt.Sprintf("deploy the complete manifest of %s %s or newer (HostProcess, no csi-proxy) once the Linux driver is there", known.Title, last[len(last)-1]))
		}
	}
	for _, r := range w.proxyReleases() {
		if !r.WMIC && slices.Contains(r.Groups, "system-v1alpha1") && w.laterAllDo(r) {
			ways = append(ways, w.raiseProxy(r.Version, ss))
			break
		}
	}
	if ss[0].node.Build == 0 {
		ways = append(ways, "show the node's build: oc get node "+ss[0].node.Name+" -o jsonpath='{.status.nodeInfo.kernelVersion}'")
	}
	return strings.Join(ways, "; or ")
}

// laterAllDo tells whether r and every newer release do without wmic.
func (w *world) laterAllDo(r *catalog.CSIProxyRelease) bool {
	return !slices.ContainsFunc(w.proxyReleases(), func(o *catalog.CSIProxyRelease) bool {
		return o.WMIC && proxyVersion(o.Version).Compare(proxyVersion(r.Version)) >= 0
	})
}
