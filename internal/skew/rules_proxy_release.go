package skew

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/skew/action"
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

// raiseProxy brings the csi-proxy of these nodes to a version: by its DaemonSet,
// by WMCO, or by hand.
func (w *world) raiseProxy(want string, ss []proxyService) []action.Action {
	hand := action.ByHand{Text: fmt.Sprintf("update csi-proxy on %s to %s or newer", someOf(serviceNodes(ss)), want)}
	switch s := ss[0]; {
	case s.owner != nil && w.allBring(ss, want):
		return []action.Action{action.DeleteDaemonSet{Object: s.owner.Object, Why: "the csi-proxy that WMCO runs is " + want + " or newer"}}
	case s.owner != nil:
		return []action.Action{action.SetImage{Object: s.owner.Object, Container: "*", Was: s.owner.Image.Reference, Image: s.owner.Image.Repository + ":v" + want, To: proxyVersion(want), Proxy: true}}
	case s.wmco:
		if r := w.wmcoWith(want); r != nil {
			return []action.Action{w.wmcoFrom(r)}
		}
		hand.Text += ": no WMCO that the catalog knows ships it"
	default:
		hand.Text += ": replace the csi-proxy.exe that the nodes run"
	}
	return []action.Action{hand}
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

// wmcoWith is the first WMCO whose csi-proxy is want or newer; nil for none that
// the catalog knows.
func (w *world) wmcoWith(want string) *catalog.WMCORelease {
	for i := range w.cat.WMCO {
		if r := &w.cat.WMCO[i]; r.CSIProxy != "" && proxyVersion(r.CSIProxy).Compare(proxyVersion(want)) >= 0 {
			return r
		}
	}
	return nil
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
