package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
)

func (w *world) proxyRelease(s proxyService) *catalog.CSIProxyRelease {
	if !s.known() {
		return nil
	}
	return w.proxyRow(s.version)
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

func unknownProxy(s proxyService) string {
	if s.known() {
		return "the catalog doesn't know csi-proxy " + s.version.String()
	}
	return cmp.Or(s.reason, "its version isn't known")
}

func proxyText(ss []proxyService) string {
	return fmt.Sprintf("csi-proxy %s (by %s)", ss[0].version, ss[0].by)
}
