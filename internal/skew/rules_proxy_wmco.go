package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// serviceAfter says what csi-proxy n has once WMCO was updated for the hop's
// target. Where several WMCO releases may be meant, the oldest csi-proxy of
// those that ship one counts; PROXY001 warns of those that don't.
func (w *world) serviceAfter(n *inventory.Node) proxyService {
	s := w.serviceOn(n)
	if n.WMCO == "" {
		return s
	}
	lack, have := w.wmcoChoices(n)
	if len(lack)+len(have) == 0 {
		return s
	}
	s.is, s.wmco, s.reason, s.version = absent, false, "", version.Driver{}
	s.by = "WMCO for OpenShift " + w.to() + " ships no csi-proxy"
	if len(have) > 0 {
		s.is, s.wmco = present, true
		s.by = "WMCO for OpenShift " + w.to()
		s.version = slices.MinFunc(proxyVersions(have), version.Driver.Compare)
	}
	w.ownedService(&s)
	return s
}

// wmcoChoices are the WMCO releases that n may get on this hop, without and
// with csi-proxy. A node that is already on its way to a version gets that one.
func (w *world) wmcoChoices(n *inventory.Node) (lack, have []*catalog.WMCORelease) {
	for _, known := range []string{n.DesiredWMCO, w.inv.Cluster.WMCO} {
		if r := w.wmcoRow(known); r != nil && r.OpenShift == w.to() {
			return splitWMCO([]*catalog.WMCORelease{r})
		}
	}
	return splitWMCO(w.wmcoFor(w.to()))
}

func splitWMCO(rs []*catalog.WMCORelease) (lack, have []*catalog.WMCORelease) {
	for _, r := range rs {
		if r.CSIProxy == "" {
			lack = append(lack, r)
		} else {
			have = append(have, r)
		}
	}
	return lack, have
}

// wmcoFor are the WMCO releases for an OpenShift minor, oldest first.
func (w *world) wmcoFor(minor string) []*catalog.WMCORelease {
	var rs []*catalog.WMCORelease
	for i := range w.cat.WMCO {
		if w.cat.WMCO[i].OpenShift == minor {
			rs = append(rs, &w.cat.WMCO[i])
		}
	}
	slices.SortStableFunc(rs, func(a, b *catalog.WMCORelease) int {
		av, _ := version.ParseWMCO(a.From)
		bv, _ := version.ParseWMCO(b.From)
		return av.Compare(bv)
	})
	return rs
}
