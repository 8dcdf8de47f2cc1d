package snapshot

import (
	"cmp"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// Presence is whether csi-proxy runs on a node.
type Presence int

const (
	// PresenceUnknown is of a node that tells nothing of it.
	PresenceUnknown Presence = iota
	// Present is of a node that runs it.
	Present
	// Absent is of a node that doesn't.
	Absent
)

// CSIProxy is what is known of csi-proxy on one Windows node.
type CSIProxy struct {
	Node    *inventory.Node
	Is      Presence
	Version version.Driver // zero where it isn't known
	// By names the ground, "WMCO 10.19.1"; reason why something isn't known.
	By, Reason string
	// Owner is the DaemonSet that runs it, nil for WMCO's service or none.
	Owner *inventory.Proxy
	// WMCO: the node's WMCO ships a csi-proxy and runs it as a service.
	WMCO bool
	At   []inventory.Evidence
}

// Known tells whether csi-proxy runs in a version that can be judged.
func (s *CSIProxy) Known() bool { return s.Is == Present && !s.Version.IsZero() }

// CSIProxyOn says what is known of csi-proxy on n as it is now. The node's own
// log wins over what its WMCO or a DaemonSet should run.
func (snap *Snapshot) CSIProxyOn(n *inventory.Node) CSIProxy {
	s := CSIProxy{Node: n}
	snap.wmcoService(&s, n.WMCO)
	snap.ownedService(&s)
	logged(&s)
	if s.Is == PresenceUnknown && s.Reason == "" {
		s.Reason = "WMCO didn't configure the node, no DaemonSet runs csi-proxy there, and no log of it was read"
		s.At = append(s.At, n.At)
	}
	return s
}

// wmcoService says which csi-proxy a node has from the WMCO of that version.
func (snap *Snapshot) wmcoService(s *CSIProxy, annotation string) {
	if annotation == "" {
		return
	}
	s.At = append(s.At, inventory.Evidence{Where: s.Node.At.Where, Text: WMCOAnnotation + ": " + annotation})
	list := snap.ServiceList(annotation)
	if list != nil {
		s.At = append(s.At, list.At)
	}
	r := snap.WMCORow(annotation)
	switch {
	case list != nil && list.CSIProxy == "":
		s.Is, s.By = Absent, "the services of WMCO "+annotation+" have no csi-proxy"
		return
	case list == nil && r != nil && r.CSIProxy == "":
		s.Is, s.By = Absent, "WMCO "+annotation+" ships no csi-proxy"
		return
	case list != nil || r != nil:
		s.Is, s.WMCO, s.By = Present, true, "WMCO "+annotation
	}
	if r == nil || r.CSIProxy == "" {
		s.Reason = "the catalog doesn't know the csi-proxy of WMCO " + annotation
		return
	}
	s.Version = Memo(snap, "version "+r.CSIProxy, func() version.Driver { return CatalogVersion(r.CSIProxy) })
}

// ServiceList is the list of services of that WMCO, nil where it wasn't read.
func (snap *Snapshot) ServiceList(wmco string) *inventory.ServiceList {
	return First(Pointers(snap.Inventory.Cluster.Services), func(l *inventory.ServiceList) bool { return l.WMCO == wmco && len(l.Names) > 0 })
}

// ownedService adds the csi-proxy of a DaemonSet that covers the node. Where
// WMCO runs one too, nobody knows which of them got the pipes (PROXY005): the
// older one counts.
func (snap *Snapshot) ownedService(s *CSIProxy) {
	p := snap.CSIProxyDaemonSet(s.Node)
	if p == nil {
		return
	}
	s.At = append(s.At, p.At)
	s.Owner = p
	switch {
	case !p.Version.Known && s.Known():
	case !p.Version.Known:
		s.Reason = p.Object.String() + ": " + cmp.Or(p.Version.Reason, "its version isn't known")
	case !s.Known() || p.Version.Version.Compare(s.Version) < 0:
		s.Version, s.By, s.Reason = p.Version.Version, p.Object.String(), ""
	}
	s.Is = Present
}

// logged takes what the node's csi-proxy says of itself. A log without a
// version still proves that csi-proxy runs.
func logged(s *CSIProxy) {
	fact := s.Node.CSIProxy
	if fact == nil {
		return
	}
	s.At = append(s.At, fact.At)
	if s.Is = Present; fact.Known {
		s.Version, s.By, s.Reason = fact.Version, "its log", ""
		return
	}
	if s.Version.IsZero() {
		s.Reason = "its log: " + cmp.Or(fact.Reason, "no version in it")
	}
}

// CatalogVersion reads a version of the catalog's, which its loader checked.
func CatalogVersion(s string) version.Driver {
	d, _ := version.ParseDriver(s)
	return d
}

// CSIProxyDaemonSet is the DaemonSet that runs csi-proxy on n, nil for none.
func (snap *Snapshot) CSIProxyDaemonSet(n *inventory.Node) *inventory.Proxy {
	return First(Pointers(snap.Inventory.Proxies), func(p *inventory.Proxy) bool { return p.Scheduling.Matches(*n) })
}
