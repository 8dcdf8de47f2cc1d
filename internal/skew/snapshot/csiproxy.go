package snapshot

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
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
	snap.servedPipes(&s)
	if s.Is == PresenceUnknown && s.Reason == "" {
		s.Reason = "no DaemonSet runs csi-proxy there, and no log of it was read"
		if snap.Inventory.Cluster.Other == "" {
			s.Reason = "WMCO didn't configure the node, " + s.Reason
		}
		s.At = append(s.At, n.At)
	}
	return s
}

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

// servedPipes takes a pod's volume that a driver has mounted through csi-proxy for a
// proof of it, where nothing else tells: a node of another operator, or of none.
func (snap *Snapshot) servedPipes(s *CSIProxy) {
	if s.Is != PresenceUnknown || s.Node.WMCO != "" {
		return
	}
	onNode := Memo(snap, "mounted by node", func() map[string][]*inventory.VolumeUse {
		by := map[string][]*inventory.VolumeUse{}
		for _, u := range Pointers(snap.Inventory.Volumes) {
			if u.Mounted && u.InTree == "" {
				by[u.Node] = append(by[u.Node], u)
			}
		}
		return by
	})
	for _, u := range onNode[s.Node.Name] {
		if d := snap.Serving(u.Provisioner, s.Node); d != nil && d.Mode() == "csi-proxy" {
			s.Is, s.By, s.Reason = Present, u.Pod.String()+" runs with a volume of "+u.Provisioner, "no log of it was read"
			s.At = append(s.At, u.At)
			return
		}
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

// UsesWMCO tells whether any node is WMCO's, or there is no node to go by and WMCO isn't
// known to be absent.
func (snap *Snapshot) UsesWMCO() bool {
	absent := snap.Inventory.LinuxNodes > 0 && snap.Inventory.Cluster.WMCO == "" && len(snap.Inventory.Cluster.Services) == 0
	return len(snap.WMCOVersions()) > 0 || len(snap.Nodes) == 0 && !absent
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
