package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

const kep1122 = "https://github.com/kubernetes/enhancements/blob/master/keps/sig-windows/1122-windows-csi-support/README.md"

// dialsAnyway tells whether a HostProcess pod dials csi-proxy all the same: it
// sees the node's pipes without mounting them.
func dialsAnyway(v *snapshot.View) bool {
	return v.DaemonSet.HostProcess && v.Line != nil && v.Line.HostProcessNeedsProxy
}

func services(v *snapshot.View) []snapshot.CSIProxy {
	return snapshot.Map(v.Nodes, v.At.CSIProxyOn)
}

func pipeEvidence(v *snapshot.View) []inventory.Evidence {
	if dialsAnyway(v) {
		return []inventory.Evidence{v.DaemonSet.Version.At}
	}
	return snapshot.Map(v.DaemonSet.Pipes[:min(2, len(v.DaemonSet.Pipes))], func(p inventory.Pipe) inventory.Evidence { return p.At })
}

func pipeNames(pipes []inventory.Pipe) string {
	names := snapshot.Map(pipes, inventory.Pipe.Name)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func proxyRelease(snap *snapshot.Snapshot, s snapshot.CSIProxy) *catalog.CSIProxyRelease {
	if !s.Known() {
		return nil
	}
	return snapshot.Memo(snap, "csi-proxy "+s.Version.String(), func() *catalog.CSIProxyRelease { return snap.Catalog.Proxy(s.Version) })
}

// published is where csi-proxy's image is for a DaemonSet:
// https://github.com/kubernetes-sigs/sig-windows-tools/tree/master/hostprocess/csi-proxy.
const published = "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy"

// raiseProxy brings the csi-proxy of these nodes to a version: by its DaemonSet,
// by WMCO, or by hand.
func raiseProxy(snap *snapshot.Snapshot, want string, ss []snapshot.CSIProxy) []action.Action {
	hand := action.ByHand{Text: fmt.Sprintf("update csi-proxy on %s to %s or newer", rules.SomeOf(serviceNodes(ss)), want)}
	switch s := ss[0]; {
	case s.Owner != nil && allBring(snap, ss, want):
		return deleteProxy(s.Owner, "the csi-proxy that WMCO runs is "+want+" or newer")
	case s.Owner != nil:
		set := action.SetImage{Object: s.Owner.Object, Container: s.Owner.Container, Was: s.Owner.Image.Reference, Image: s.Owner.Image.Repository + ":v" + want, To: snapshot.CatalogVersion(want), Proxy: true}
		if s.Owner.Image.Repository != published {
			set.From = published + ":v" + want
		}
		return []action.Action{set}
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

// deleteProxy takes a DaemonSet's csi-proxy off nodes where WMCO runs one too.
func deleteProxy(p *inventory.Proxy, why string) []action.Action {
	return []action.Action{action.DeleteDaemonSet{Object: p.Object, Why: why, Without: "until WMCO's service has the pipes, volumes can't be mounted through them; mounted ones stay"}}
}

// allBring tells whether WMCO runs a csi-proxy of that version or newer on all
// of these nodes, so that none needs the DaemonSet's.
func allBring(snap *snapshot.Snapshot, ss []snapshot.CSIProxy, want string) bool {
	return !slices.ContainsFunc(ss, func(s snapshot.CSIProxy) bool { return !s.WMCO || !bringsProxy(snap.WMCORow(s.Node.WMCO), want) })
}

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

func proxyText(ss []snapshot.CSIProxy) string {
	return fmt.Sprintf("csi-proxy %s (by %s)", ss[0].Version, ss[0].By)
}

func serviceNodes(ss []snapshot.CSIProxy) []string {
	return slices.Sorted(slices.Values(snapshot.NodeNames(nodesOf(ss))))
}

func nodesOf(ss []snapshot.CSIProxy) []*inventory.Node {
	return snapshot.Map(ss, func(s snapshot.CSIProxy) *inventory.Node { return s.Node })
}

func serviceEvidence(ss []snapshot.CSIProxy) []inventory.Evidence {
	return slices.Concat(snapshot.Map(ss, func(s snapshot.CSIProxy) []inventory.Evidence { return s.At })...)
}

func lineSource(v *snapshot.View) string {
	if v.Line != nil && len(v.Line.Evidence) > 0 {
		return v.Line.Evidence[0].Source
	}
	if v.Catalog != nil && len(v.Catalog.Evidence) > 0 {
		return v.Catalog.Evidence[0].Source
	}
	return kep1122
}
