package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// server2025 is the first Windows build that wmic may be missing on: Microsoft
// made it a feature on demand that isn't installed by default.
const server2025 = 26100

// proxyWMIC is PROXY004: a driver that needs GetBIOSSerialNumber of a csi-proxy
// that runs wmic for it, on a Windows that may have no wmic.
func proxyWMIC(w *world) []draft {
	if w.Phase == Target {
		return nil
	}
	var fs []draft
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
		fs = append(fs, w.needsWMIC(d, sure, finding.Warn)...)
		fs = append(fs, w.needsWMIC(d, unsure, finding.Unknown)...)
	}
	return fs
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

// proxyDouble is PROXY005: a csi-proxy DaemonSet on nodes whose WMCO runs one
// as a service, now or after the update.
func proxyDouble(w *world) []draft {
	var fs []draft
	for i := range w.inv.Proxies {
		p := &w.inv.Proxies[i]
		var both, unsure []proxyService
		for _, n := range w.windowsNodes() {
			if !p.Scheduling.Matches(*n) || n.WMCO == "" {
				continue
			}
			s := w.serviceOn(n)
			switch now := s.wmco; {
			case w.Phase == Target && !now && w.serviceAfter(n).wmco:
				both = append(both, w.serviceAfter(n))
			case w.Phase != Now:
			case now:
				both = append(both, s)
			case w.wmcoRow(n.WMCO) == nil && w.serviceList(n.WMCO) == nil:
				unsure = append(unsure, s)
			}
		}
		fs = append(fs, w.twoOwners(p, both, finding.Warn)...)
		fs = append(fs, w.twoOwners(p, unsure, finding.Unknown)...)
	}
	return fs
}

func (w *world) twoOwners(p *inventory.Proxy, ss []proxyService, sev finding.Severity) []draft {
	if len(ss) == 0 {
		return nil
	}
	nodes := someOf(serviceNodes(ss))
	f := draft{Severity: sev, Object: p.Object.String()}
	f.Observed = fmt.Sprintf("runs csi-proxy on %s, where WMCO runs it as a service", nodes)
	if w.Phase == Target {
		f.Observed = fmt.Sprintf("runs csi-proxy on %s, where WMCO for OpenShift %s will run it as a service", nodes, w.to())
	}
	if sev == finding.Unknown {
		f.Observed = fmt.Sprintf("runs csi-proxy on %s; whether WMCO does too isn't known: the catalog doesn't know WMCO %s", nodes, ss[0].node.WMCO)
	}
	f.Expected, f.Same = "one csi-proxy a node", string(w.Phase)
	f.Why = "a pipe has one owner: the second csi-proxy can't listen and stops with a panic, and which of the two serves depends on who started first"
	f.Remedy = fmt.Sprintf("oc -n %s delete %s %s", orNamespace(p.Object), strings.ToLower(p.Object.Kind), p.Object.Name)
	f.When = before
	f.Evidence = cite(slices.Concat([]inventory.Evidence{p.At}, serviceFacts(ss)))
	return []draft{f}
}

// proxyMixed is PROXY006: Windows nodes whose csi-proxies differ.
func proxyMixed(w *world) []draft {
	if w.Phase != Now {
		return nil
	}
	var known, unknown []proxyService
	for _, n := range w.windowsNodes() {
		switch s := w.serviceOn(n); {
		case s.known():
			known = append(known, s)
		case s.is == present:
			unknown = append(unknown, s)
		}
	}
	sets := groups(known, func(s proxyService) string { return s.version.String() })
	if len(sets) < 2 {
		return w.maybeMixed(known, unknown)
	}
	var texts []string
	for _, ss := range sets {
		texts = append(texts, fmt.Sprintf("%s on %s", ss[0].version, someOf(serviceNodes(ss))))
	}
	f := draft{Severity: finding.Warn, Object: "csi-proxy"}
	f.Observed = strings.Join(texts, "; ")
	f.Expected = "one csi-proxy version on all Windows nodes"
	f.Why = "drivers must fit the oldest of them; csi-proxy is to be updated on all nodes before drivers are"
	f.Remedy, f.When = "let WMCO finish: every Windows node must show its version, "+wmcoOfNodes+"; update the nodes that WMCO doesn't configure by hand", before
	f.Evidence = cite(serviceFacts(known))
	return []draft{f}
}

func (w *world) maybeMixed(known, unknown []proxyService) []draft {
	if len(unknown) == 0 || len(known)+len(unknown) < 2 {
		return nil
	}
	names := serviceNodes(unknown)
	f := draft{Severity: finding.Unknown, Object: "csi-proxy"}
	f.Observed = fmt.Sprintf("csi-proxy's version on %s isn't known: %s", someOf(names), unknownProxy(unknown[0]))
	f.Expected = "one csi-proxy version on all Windows nodes"
	f.Why = "drivers must fit the oldest of them"
	f.Remedy, f.When = readProxyLog(names), before
	f.Evidence = cite(serviceFacts(unknown))
	return []draft{f}
}

// proxyVulnerable is PROXY007: a csi-proxy with a known vulnerability.
func proxyVulnerable(w *world) []draft {
	if w.Phase != Now {
		return nil
	}
	var bad, unknown []proxyService
	for _, n := range w.windowsNodes() {
		s := w.serviceOn(n)
		switch r := w.proxyRelease(s); {
		case r != nil && len(r.CVEs) > 0:
			bad = append(bad, s)
		case r == nil && s.is == present:
			unknown = append(unknown, s)
		}
	}
	var fs []draft
	for _, ss := range groups(bad, func(s proxyService) string { return s.version.String() + s.by }) {
		f := draft{Severity: finding.Warn, Object: "csi-proxy " + ss[0].version.String()}
		f.Observed = fmt.Sprintf("%s on %s: %s", proxyText(ss), someOf(serviceNodes(ss)), strings.Join(w.proxyRelease(ss[0]).CVEs, ", "))
		f.Expected = "csi-proxy " + w.firstSafe() + " or newer"
		f.Same = ss[0].by
		f.Why = "whoever may create a pod that mounts the pipes can become administrator of the node"
		f.Remedy, f.When = w.raiseProxy(w.firstSafe(), ss), before
		f.Evidence = cite(serviceFacts(ss))
		fs = append(fs, f)
	}
	for _, ss := range groups(unknown, unknownProxy) {
		f := draft{Severity: finding.Unknown, Object: "csi-proxy on " + someOf(serviceNodes(ss))}
		f.Observed = unknownProxy(ss[0])
		f.Expected = "csi-proxy " + w.firstSafe() + " or newer"
		f.Why = "older ones let whoever may create pods become administrator of the node"
		f.Remedy, f.When = readProxyLog(serviceNodes(ss)), before
		f.Evidence = cite(serviceFacts(ss))
		fs = append(fs, f)
	}
	return fs
}

// firstSafe is the oldest csi-proxy since which none has a known vulnerability.
func (w *world) firstSafe() string {
	safe := ""
	for _, r := range slices.Backward(w.proxyReleases()) {
		if len(r.CVEs) > 0 {
			break
		}
		safe = r.Version
	}
	return safe
}

// orNamespace stands for a namespace that a manifest leaves to the command.
func orNamespace(o inventory.Object) string { return cmp.Or(o.Namespace, "NAMESPACE") }
