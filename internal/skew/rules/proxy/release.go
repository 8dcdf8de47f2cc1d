package proxy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

func proxyRelease(snap *snapshot.Snapshot, s snapshot.CSIProxy) *catalog.CSIProxyRelease {
	if !s.Known() {
		return nil
	}
	return snapshot.Memo(snap, "csi-proxy "+s.Version.String(), func() *catalog.CSIProxyRelease { return snap.Catalog.Proxy(s.Version) })
}

// raiseProxy brings the csi-proxy of these nodes to a version: by its DaemonSet,
// by WMCO, or by hand.
func raiseProxy(snap *snapshot.Snapshot, want string, ss []snapshot.CSIProxy) []action.Action {
	hand := action.ByHand{Text: fmt.Sprintf("update csi-proxy on %s to %s or newer", rules.SomeOf(serviceNodes(ss)), want)}
	switch s := ss[0]; {
	case s.Owner != nil && allBring(snap, ss, want):
		return []action.Action{action.DeleteDaemonSet{Object: s.Owner.Object, Why: "the csi-proxy that WMCO runs is " + want + " or newer"}}
	case s.Owner != nil:
		return []action.Action{action.SetImage{Object: s.Owner.Object, Container: "*", Was: s.Owner.Image.Reference, Image: s.Owner.Image.Repository + ":v" + want, To: snapshot.CatalogVersion(want), Proxy: true}}
	case s.WMCO:
		if r := wmcoWith(snap, want); r != nil {
			return []action.Action{remedy.WMCOFrom(snap, *r)}
		}
		hand.Text += ": no WMCO that the catalog knows ships it"
	default:
		hand.Text += ": replace the csi-proxy.exe that the nodes run"
	}
	return []action.Action{hand}
}

// allBring tells whether WMCO runs a csi-proxy of that version or newer on all
// of these nodes, so that none needs the DaemonSet's.
func allBring(snap *snapshot.Snapshot, ss []snapshot.CSIProxy, want string) bool {
	return !slices.ContainsFunc(ss, func(s snapshot.CSIProxy) bool { return !s.WMCO || !bringsProxy(snap.WMCORow(s.Node.WMCO), want) })
}

// bringsProxy tells whether the csi-proxy of a WMCO is want or newer.
func bringsProxy(r *catalog.WMCORelease, want string) bool {
	return r != nil && r.CSIProxy != "" && notOlder(r.CSIProxy, want)
}

func notOlder(proxy, than string) bool {
	return snapshot.CatalogVersion(proxy).Compare(snapshot.CatalogVersion(than)) >= 0
}

// wmcoWith is the first WMCO whose csi-proxy is want or newer; nil for none that
// the catalog knows.
func wmcoWith(snap *snapshot.Snapshot, want string) *catalog.WMCORelease {
	all := snapshot.Pointers(snap.Catalog.WMCO)
	return snapshot.First(all, func(r *catalog.WMCORelease) bool { return bringsProxy(r, want) })
}

func unknownProxy(s snapshot.CSIProxy) string {
	if s.Known() {
		return "the catalog doesn't know csi-proxy " + s.Version.String()
	}
	return cmp.Or(s.Reason, "its version isn't known")
}

func proxyText(ss []snapshot.CSIProxy) string {
	return fmt.Sprintf("csi-proxy %s (by %s)", ss[0].Version, ss[0].By)
}

// serviceNodes are the names of the nodes of services, sorted.
func serviceNodes(ss []snapshot.CSIProxy) []string {
	return slices.Sorted(slices.Values(snapshot.NodeNames(nodesOf(ss))))
}

func nodesOf(ss []snapshot.CSIProxy) []*inventory.Node {
	return snapshot.Map(ss, func(s snapshot.CSIProxy) *inventory.Node { return s.Node })
}

// serviceFacts is where services were read of.
func serviceFacts(ss []snapshot.CSIProxy) []inventory.Evidence {
	return slices.Concat(snapshot.Map(ss, func(s snapshot.CSIProxy) []inventory.Evidence { return s.At })...)
}
