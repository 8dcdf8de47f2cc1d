package skew

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// proxyDouble is PROXY005: a csi-proxy DaemonSet on nodes whose WMCO runs one
// as a service, now or after the update.
func proxyDouble(w *world) []draft {
	var said []draft
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
		said = append(said, w.twoOwners(p, both, finding.Warn)...)
		said = append(said, w.twoOwners(p, unsure, finding.Unknown)...)
	}
	return said
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
	f.Do = []action.Action{action.DeleteDaemonSet{Object: p.Object, Why: "WMCO runs csi-proxy as a service on its nodes"}}
	if others := w.onlyProxyOf(p, ss); len(others) > 0 {
		f.Do, f.Remedy = nil, fmt.Sprintf("keep %s off %s, and on %s: give the nodes that WMCO doesn't configure a label (csi-proxy=daemonset), and the DaemonSet a node selector for it", p.Object, nodes, someOf(others))
	}
	if sev == finding.Unknown {
		f.Remedy = fmt.Sprintf("see whether csi-proxy is among WMCO's services, and delete %s only if it is", p.Object)
		f.Do = []action.Action{action.Gather{Text: f.Remedy, Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "configmap", "windows-services-" + ss[0].node.WMCO, "-o", "jsonpath={.data.services}"}}}
	}
	f.When = before
	f.Evidence = cite(slices.Concat([]inventory.Evidence{p.At}, serviceFacts(ss)))
	return []draft{f}
}

// onlyProxyOf are the nodes on which a DaemonSet's csi-proxy is the only one:
// those of its nodes that aren't among ss.
func (w *world) onlyProxyOf(p *inventory.Proxy, ss []proxyService) []string {
	var names []string
	for _, n := range w.windowsNodes() {
		if p.Scheduling.Matches(*n) && !slices.ContainsFunc(ss, func(s proxyService) bool { return s.node == n }) {
			names = append(names, n.Name)
		}
	}
	return names
}

// proxyVulnerable is PROXY007: a csi-proxy with a known vulnerability.
func proxyVulnerable(w *world) []draft {
	if w.Phase != Now {
		return nil
	}
	var bad []proxyService
	for _, n := range w.windowsNodes() {
		s := w.serviceOn(n)
		if r := w.proxyRelease(s); r != nil && len(r.CVEs) > 0 {
			bad = append(bad, s)
		}
	}
	var said []draft
	for _, ss := range groups(bad, func(s proxyService) string { return s.version.String() + s.by }) {
		f := draft{Severity: finding.Warn, Object: "csi-proxy " + ss[0].version.String()}
		f.Observed = fmt.Sprintf("%s on %s: %s", proxyText(ss), someOf(serviceNodes(ss)), strings.Join(w.proxyRelease(ss[0]).CVEs, ", "))
		f.Expected = "csi-proxy " + w.firstSafe() + " or newer"
		f.Same = ss[0].by
		f.Why = "whoever may create a pod that mounts the pipes can become administrator of the node"
		f.Do, f.When = w.raiseProxy(w.firstSafe(), ss), before
		f.Evidence = cite(serviceFacts(ss))
		said = append(said, f)
	}
	return said
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
