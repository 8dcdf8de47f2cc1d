package snapshot

import (
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// LeftBehind are those of some nodes that an older WMCO configured than the one
// that runs, or than that of other nodes.
func (snap *Snapshot) LeftBehind(nodes []*inventory.Node) []string {
	return NodeNames(Select(nodes, func(n *inventory.Node) bool {
		return slices.ContainsFunc(snap.WMCOVersions(), func(other string) bool { return newerWMCO(other, n.WMCO) })
	}))
}

// Precedes tells whether an update goes from one minor to the other.
func (snap *Snapshot) Precedes(minor, next string) bool {
	r := snap.Catalog.Release(minor)
	return r != nil && slices.Contains(r.Next, next)
}

// WMCOVersions are the versions of WMCO that are known: the operator's own, else
// those that configured the nodes.
func (snap *Snapshot) WMCOVersions() []string {
	return Memo(snap, "operators", func() []string {
		if snap.Inventory.Cluster.WMCO != "" {
			return []string{snap.Inventory.Cluster.WMCO}
		}
		have := Select(snap.Nodes, func(n *inventory.Node) bool { return n.WMCO != "" })
		return Unique(Map(have, func(n *inventory.Node) string { return n.WMCO }))
	})
}

// UsesWMCO tells whether any node is WMCO's, or there is no node to go by.
func (snap *Snapshot) UsesWMCO() bool {
	return len(snap.WMCOVersions()) > 0 || len(snap.Nodes) == 0
}

// Arriving is the WMCO that is about to configure n, where that one ships no
// csi-proxy; nil otherwise.
func (snap *Snapshot) Arriving(n *inventory.Node) *catalog.WMCORelease {
	if snap.CSIProxyOn(n).Is != Present || snap.CSIProxyDaemonSet(n) != nil {
		return nil
	}
	for _, next := range []string{n.DesiredWMCO, snap.Inventory.Cluster.WMCO} {
		if r := snap.WMCORow(next); r != nil && newerWMCO(next, n.WMCO) && r.CSIProxy == "" {
			return r
		}
	}
	return nil
}

func newerWMCO(a, b string) bool {
	av, errA := version.ParseWMCO(a)
	bv, errB := version.ParseWMCO(b)
	return errA == nil && errB == nil && av.Compare(bv) > 0
}

// WMCOAnnotation is the annotation that ties a node to its services' ConfigMap.
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/metadata/metadata.go
const WMCOAnnotation = "windowsmachineconfig.openshift.io/version"

// CSIProxyAfter says what csi-proxy n has once WMCO was updated for the hop's
// target. Where several WMCO releases may be meant, the oldest csi-proxy of
// those that ship one counts; PROXY001 warns of those that don't.
func (snap *Snapshot) CSIProxyAfter(n *inventory.Node) CSIProxy {
	s := snap.CSIProxyOn(n)
	if n.WMCO == "" {
		return s
	}
	lack, have := snap.WMCOChoices(n)
	if len(lack)+len(have) == 0 {
		return s
	}
	s.Is, s.WMCO, s.Reason, s.Version = Absent, false, "", version.Driver{}
	s.By = "WMCO for OpenShift " + snap.ToMinor() + " ships no csi-proxy"
	if len(have) > 0 {
		s.Is, s.WMCO = Present, true
		s.By = "WMCO for OpenShift " + snap.ToMinor()
		for i, r := range have {
			if v := CatalogVersion(r.CSIProxy); i == 0 || v.Compare(s.Version) < 0 {
				s.Version = v
			}
		}
	}
	snap.ownedService(&s)
	return s
}

// WMCOChoices are the WMCO releases that n may get on this hop, without and
// with csi-proxy. A node that is already on its way to a version gets that one.
func (snap *Snapshot) WMCOChoices(n *inventory.Node) (lack, have []catalog.WMCORelease) {
	for _, known := range []string{n.DesiredWMCO, snap.Inventory.Cluster.WMCO} {
		if r := snap.WMCORow(known); r != nil && r.OpenShift == snap.ToMinor() {
			return Part([]catalog.WMCORelease{*r}, withoutCSIProxy)
		}
	}
	return Part(snap.Catalog.WMCOFor(snap.ToMinor()), withoutCSIProxy)
}

func withoutCSIProxy(r catalog.WMCORelease) bool { return r.CSIProxy == "" }

// WMCOWithCSIProxy are the WMCO releases for a minor that ship csi-proxy, oldest first.
func (snap *Snapshot) WMCOWithCSIProxy(minor string) []catalog.WMCORelease {
	_, have := Part(snap.Catalog.WMCOFor(minor), withoutCSIProxy)
	return have
}

// WMCORow is the catalog's row for a WMCO version as it is written; nil where
// it can't be read or isn't known.
func (snap *Snapshot) WMCORow(s string) *catalog.WMCORelease {
	return Memo(snap, "WMCO "+s, func() *catalog.WMCORelease {
		v, err := version.ParseWMCO(s)
		if err != nil {
			return nil
		}
		return snap.Catalog.WMCORelease(v)
	})
}
