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

// proxyGroups is PROXY002: a mounted pipe that the csi-proxy of a node doesn't
// serve.
func proxyGroups(w *world) []draft {
	if w.Phase == Target {
		return nil // neither the driver nor csi-proxy has changed since Now
	}
	var said []draft
	for _, d := range w.pipeDrivers() {
		services := which(w.services(d), present)
		said = append(said, w.unservedPipes(d, services)...)
		said = append(said, w.unknownPipes(d, services)...)
	}
	return said
}

func (w *world) unservedPipes(d *inventory.Driver, services []proxyService) []draft {
	var said []draft
	by := func(s proxyService) string { return pipeNames(w.unserved(d, s)) }
	for _, ss := range groups(services, by) {
		missing := w.unserved(d, ss[0])
		if len(missing) == 0 {
			continue
		}
		f := draft{Severity: finding.Block, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("mounts %s, which %s on %s doesn't serve", pipeNames(missing), proxyText(ss), someOf(serviceNodes(ss)))
		if w.dialsAnyway(d) {
			f.Observed = fmt.Sprintf("%s; %s on %s doesn't serve %s", w.pipeText(d), proxyText(ss), someOf(serviceNodes(ss)), pipeNames(missing))
		}
		f.Expected, f.Same = "every mounted pipe is served", pipeNames(missing)
		f.Why = "a pod that mounts a pipe which isn't there may not start, and the driver's calls fail; reported with drivers (csi-proxy issues 55 and 115), not seen on a real node by us"
		if !w.dialsAnyway(d) && w.allFallBack(d, missing, ss[0]) {
			f.Severity = finding.Warn
			f.Why = "the driver falls back to an older pipe that it mounts too and that is served; whether a pod starts when one of its pipes isn't there wasn't seen on a real node"
		}
		f.Remedy, f.When = w.servePipes(missing, ss), before
		f.Evidence = cite(slices.Concat(factsOf(missing), serviceFacts(ss)))
		said = append(said, f)
	}
	return said
}

// unserved are the pipes that d mounts and s doesn't serve; none where the
// version isn't known, which unknownPipes tells. A HostProcess pod mounts none:
// of each group that it dials one version must be served.
func (w *world) unserved(d *inventory.Driver, s proxyService) []inventory.Pipe {
	r := w.proxyRelease(s)
	if r == nil {
		return nil
	}
	var missing []inventory.Pipe
	if w.dialsAnyway(d) {
		for _, use := range w.lineAt(d).API {
			if !slices.ContainsFunc(use.Versions, func(v string) bool { return r.Serves(use.Group, v) }) {
				missing = append(missing, inventory.Pipe{Group: use.Group, Version: use.Versions[0]})
			}
		}
		return missing
	}
	for _, p := range d.Pipes {
		if !slices.Contains(r.Groups, p.Name()) {
			missing = append(missing, p)
		}
	}
	return missing
}

func (w *world) proxyRelease(s proxyService) *catalog.CSIProxyRelease {
	if !s.known() {
		return nil
	}
	return w.proxyRow(s.version)
}

// allFallBack tells whether d mounts, for each missing pipe, another version of
// the same group that is served and that the driver is known to try.
func (w *world) allFallBack(d *inventory.Driver, missing []inventory.Pipe, s proxyService) bool {
	line := w.lineAt(d)
	if line == nil {
		return false
	}
	served := w.proxyRelease(s).Groups
	for _, m := range missing {
		if !slices.ContainsFunc(d.Pipes, func(p inventory.Pipe) bool {
			return p.Group == m.Group && slices.Contains(served, p.Name()) && dials(line, p)
		}) {
			return false
		}
	}
	return true
}

func dials(line *catalog.Line, p inventory.Pipe) bool {
	return slices.ContainsFunc(line.API, func(u catalog.APIUse) bool {
		return u.Group == p.Group && slices.Contains(u.Versions, p.Version)
	})
}

// servePipes says which csi-proxy serves what is missing.
func (w *world) servePipes(missing []inventory.Pipe, ss []proxyService) string {
	for _, r := range w.proxyReleases() {
		if len(r.CVEs) > 0 {
			continue // PROXY007 would send on to a newer one
		}
		if !slices.ContainsFunc(missing, func(p inventory.Pipe) bool { return !slices.Contains(r.Groups, p.Name()) }) {
			return "before the drivers, on every Windows node, " + w.raiseProxy(r.Version, ss)
		}
	}
	return "no csi-proxy that the catalog knows serves " + pipeNames(missing) + ": take the mounts out of the DaemonSet"
}

// proxyReleases are the csi-proxy releases, oldest first.
func (w *world) proxyReleases() []*catalog.CSIProxyRelease {
	var rs []*catalog.CSIProxyRelease
	for i := range w.cat.CSIProxy {
		rs = append(rs, &w.cat.CSIProxy[i])
	}
	slices.SortStableFunc(rs, func(a, b *catalog.CSIProxyRelease) int {
		return proxyVersion(a.Version).Compare(proxyVersion(b.Version))
	})
	return rs
}

// raiseProxy says how the csi-proxy of these nodes gets to a version: by its
// DaemonSet, by WMCO, or by hand.
func (w *world) raiseProxy(want string, ss []proxyService) string {
	var by string
	switch s := ss[0]; {
	case s.owner != nil && w.allBring(ss, want):
		return fmt.Sprintf("delete %s (PROXY005): the csi-proxy that WMCO runs is %s or newer\noc -n %s delete %s %s",
			s.owner.Object, want, orNamespace(s.owner.Object), strings.ToLower(s.owner.Object.Kind), s.owner.Object.Name)
	case s.owner != nil:
		by = fmt.Sprintf("oc -n %s set image %s/%s '*=%s:v%s'",
			orNamespace(s.owner.Object), strings.ToLower(s.owner.Object.Kind), s.owner.Object.Name, s.owner.Image.Repository, want)
	case s.wmco:
		by = cmp.Or(w.wmcoWith(want), "no WMCO that the catalog knows ships it")
	default:
		by = "replace the csi-proxy.exe that the nodes run"
	}
	return fmt.Sprintf("update csi-proxy on %s to %s or newer:\n%s", someOf(serviceNodes(ss)), want, by)
}

// allBring tells whether WMCO runs a csi-proxy of that version or newer on all
// of these nodes, so that none needs the DaemonSet's.
func (w *world) allBring(ss []proxyService, want string) bool {
	return !slices.ContainsFunc(ss, func(s proxyService) bool { return !s.wmco || !w.bringsProxy(s.node.WMCO, want) })
}

// bringsProxy tells whether the csi-proxy of a WMCO is want or newer.
func (w *world) bringsProxy(wmco, want string) bool {
	r := w.wmcoRow(wmco)
	return r != nil && r.CSIProxy != "" && proxyVersion(r.CSIProxy).Compare(proxyVersion(want)) >= 0
}

// wmcoWith names the first WMCO whose csi-proxy is want or newer; "" for none
// that the catalog knows.
func (w *world) wmcoWith(want string) string {
	for _, r := range w.cat.WMCO {
		if r.CSIProxy != "" && proxyVersion(r.CSIProxy).Compare(proxyVersion(want)) >= 0 {
			return fmt.Sprintf("update WMCO to %s or newer (OpenShift %s)\n%s", r.From, r.OpenShift, wmcoOfNodes)
		}
	}
	return ""
}

func (w *world) unknownPipes(d *inventory.Driver, services []proxyService) []draft {
	unknown := slices.DeleteFunc(slices.Clone(services), func(s proxyService) bool { return w.proxyRelease(s) != nil })
	var said []draft
	for _, ss := range groups(unknown, unknownProxy) {
		names := serviceNodes(ss)
		f := draft{Severity: finding.Unknown, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("%s on %s; which pipes csi-proxy serves there isn't known: %s", w.pipeText(d), someOf(names), unknownProxy(ss[0]))
		f.Expected, f.Same = "a csi-proxy whose version is known", unknownProxy(ss[0])
		f.Why = "which pipes there are depends on csi-proxy's version"
		f.Remedy, f.When = readProxyLog(ss), before
		f.Evidence = cite(slices.Concat(w.pipeFacts(d), serviceFacts(ss)))
		said = append(said, f)
	}
	return said
}

func unknownProxy(s proxyService) string {
	if s.known() {
		return "the catalog doesn't know csi-proxy " + s.version.String()
	}
	return cmp.Or(s.reason, "its version isn't known")
}

func proxyText(ss []proxyService) string {
	return fmt.Sprintf("csi-proxy %s (by %s)", ss[0].version, ss[0].by)
}

func factsOf(pipes []inventory.Pipe) []inventory.Evidence {
	var at []inventory.Evidence
	for _, p := range pipes {
		at = append(at, p.At)
	}
	return at
}
