package skew

import (
	"cmp"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// presence is whether csi-proxy runs on a node.
type presence int

const (
	presenceUnknown presence = iota
	present
	absent
)

// proxyService is what is known of csi-proxy on one Windows node.
type proxyService struct {
	node    *inventory.Node
	is      presence
	version version.Driver // zero where it isn't known
	// by names the ground, "WMCO 10.19.1"; reason why something isn't known.
	by, reason string
	// owner is the DaemonSet that runs it, nil for WMCO's service or none.
	owner *inventory.Proxy
	// wmco: the node's WMCO ships a csi-proxy and runs it as a service.
	wmco bool
	at   []inventory.Evidence
}

// known tells whether csi-proxy runs in a version that can be judged.
func (s *proxyService) known() bool { return s.is == present && !s.version.IsZero() }

// wmcoVersion is the annotation that ties a node to its services' ConfigMap.
// https://github.com/openshift/windows-machine-config-operator/blob/master/pkg/metadata/metadata.go
const wmcoVersion = "windowsmachineconfig.openshift.io/version"

// serviceOn says what is known of csi-proxy on n as it is now. The node's own
// log wins over what its WMCO or a DaemonSet should run.
func (w *world) serviceOn(n *inventory.Node) proxyService {
	s := proxyService{node: n}
	w.wmcoService(&s, n.WMCO)
	w.ownedService(&s)
	logged(&s)
	if s.is == presenceUnknown && s.reason == "" {
		s.reason = "WMCO didn't configure the node, no DaemonSet runs csi-proxy there, and no log of it was read"
		s.at = append(s.at, n.At)
	}
	return s
}

// wmcoService says which csi-proxy a node has from the WMCO of that version.
func (w *world) wmcoService(s *proxyService, annotation string) {
	if annotation == "" {
		return
	}
	s.at = append(s.at, inventory.Evidence{Where: s.node.At.Where, Text: wmcoVersion + ": " + annotation})
	list := w.serviceList(annotation)
	if list != nil {
		s.at = append(s.at, list.At)
	}
	r := w.wmcoRow(annotation)
	switch {
	case list != nil && list.CSIProxy == "":
		s.is, s.by = absent, "the services of WMCO "+annotation+" have no csi-proxy"
		return
	case list == nil && r != nil && r.CSIProxy == "":
		s.is, s.by = absent, "WMCO "+annotation+" ships no csi-proxy"
		return
	case list != nil || r != nil:
		s.is, s.wmco, s.by = present, true, "WMCO "+annotation
	}
	if r == nil || r.CSIProxy == "" {
		s.reason = "the catalog doesn't know the csi-proxy of WMCO " + annotation
		return
	}
	s.version = memo(w.index, "version "+r.CSIProxy, func() version.Driver { return proxyVersion(r.CSIProxy) })
}

// serviceList is the list of services of that WMCO, nil where it wasn't read.
func (w *world) serviceList(wmco string) *inventory.ServiceList {
	for i := range w.inv.Cluster.Services {
		if l := &w.inv.Cluster.Services[i]; l.WMCO == wmco && len(l.Names) > 0 {
			return l
		}
	}
	return nil
}

// ownedService adds the csi-proxy of a DaemonSet that covers the node. Where
// WMCO runs one too, nobody knows which of them got the pipes (PROXY005): the
// older one counts.
func (w *world) ownedService(s *proxyService) {
	p := w.proxyOf(s.node)
	if p == nil {
		return
	}
	s.at = append(s.at, p.At)
	s.owner = p
	switch {
	case !p.Version.Known && s.known():
	case !p.Version.Known:
		s.reason = p.Object.String() + ": " + cmp.Or(p.Version.Reason, "its version isn't known")
	case !s.known() || p.Version.Version.Compare(s.version) < 0:
		s.version, s.by, s.reason = p.Version.Version, p.Object.String(), ""
	}
	s.is = present
}

// logged takes what the node's csi-proxy says of itself. A log without a
// version still proves that csi-proxy runs.
func logged(s *proxyService) {
	fact := s.node.CSIProxy
	if fact == nil {
		return
	}
	s.at = append(s.at, fact.At)
	if s.is = present; fact.Known {
		s.version, s.by, s.reason = fact.Version, "its log", ""
		return
	}
	if s.version.IsZero() {
		s.reason = "its log: " + cmp.Or(fact.Reason, "no version in it")
	}
}

// proxyVersion reads a version of the catalog's, which its loader checked.
func proxyVersion(s string) version.Driver {
	d, _ := version.ParseDriver(s)
	return d
}

func proxyVersions(rs []*catalog.WMCORelease) []version.Driver {
	var vs []version.Driver
	for _, r := range rs {
		vs = append(vs, proxyVersion(r.CSIProxy))
	}
	return vs
}

// proxyOf is the DaemonSet that runs csi-proxy on n, nil for none.
func (w *world) proxyOf(n *inventory.Node) *inventory.Proxy {
	for i := range w.inv.Proxies {
		if p := &w.inv.Proxies[i]; p.Scheduling.Matches(*n) {
			return p
		}
	}
	return nil
}
