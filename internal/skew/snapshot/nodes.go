package snapshot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// CSINode finds the CSINode of a node; nil if it wasn't read.
func (snap *Snapshot) CSINode(name string) *inventory.CSINode { return snap.csiNodes[name] }

// NextWith is the release after r that has the API server; nil where none has.
func (snap *Snapshot) NextWith(r *catalog.Release, server version.Kubernetes) *catalog.Release {
	return First(Pointers(snap.Catalog.Releases), func(next *catalog.Release) bool {
		return slices.Contains(r.Next, next.OpenShift) && next.Kubernetes == server.MinorString()
	})
}

// APIServer is the version of the API server in this phase.
func (snap *Snapshot) APIServer() (version.Kubernetes, inventory.Evidence, bool) {
	text, at := "", inventory.Evidence{}
	if snap.Phase == Now && snap.Hop == 0 {
		text, at = snap.Inventory.Cluster.Kubernetes, inventory.Evidence{Where: "the API server", Text: snap.Inventory.Cluster.Kubernetes}
	}
	if text == "" && !snap.Release().IsZero() {
		if p := snap.Payload(snap.Release()); p != nil {
			text, at = p.Kubernetes, inventory.Evidence{Where: p.At.Where, Text: p.Kubernetes}
		}
	}
	if r := snap.CatalogRelease(); text == "" && r != nil {
		text, at = r.Kubernetes, inventory.Evidence{Where: "catalog, OpenShift " + r.OpenShift, Text: "Kubernetes " + r.Kubernetes}
	}
	k, err := version.ParseKubernetes(text)
	return k, at, err == nil
}

// NodeNames are the names of nodes.
func NodeNames(nodes []*inventory.Node) []string {
	return Map(nodes, func(n *inventory.Node) string { return n.Name })
}

// NodeEvidence is where the first few nodes were read: five hundred alike prove
// no more.
func NodeEvidence(nodes []*inventory.Node) []inventory.Evidence {
	return Map(nodes[:min(3, len(nodes))], func(n *inventory.Node) inventory.Evidence { return n.At })
}

// Lacking parts nodes: those whose CSINode lacks the provisioner, and those
// whose CSINode wasn't read.
func (snap *Snapshot) Lacking(provisioner string, nodes []*inventory.Node) (missing, unread []*inventory.Node) {
	for _, n := range nodes {
		switch c := snap.CSINode(n.Name); {
		case c == nil:
			unread = append(unread, n)
		case !slices.Contains(c.Drivers, provisioner):
			missing = append(missing, n)
		}
	}
	return missing, unread
}

// CSINodeEvidence are what the CSINodes of nodes list, or the nodes where none was read.
func (snap *Snapshot) CSINodeEvidence(nodes []*inventory.Node) []inventory.Evidence {
	return Map(nodes, func(n *inventory.Node) inventory.Evidence {
		if c := snap.CSINode(n.Name); c != nil {
			return inventory.Evidence{Where: c.At.Where, Text: "spec.drivers: [" + strings.Join(c.Drivers, ", ") + "]"}
		}
		return n.At
	})
}

// Builds names Windows builds that container images are made for.
var Builds = map[int]string{
	17763: "Windows Server 2019", 18362: "Windows Server 1903", 18363: "Windows Server 1909",
	19041: "Windows Server 2004", 19042: "Windows Server 20H2", 20348: "Windows Server 2022",
	25398: "Windows Server 23H2", 26100: "Windows Server 2025",
}

// BuildName is the Windows of a build, in a sentence.
func BuildName(build int) string {
	if build == 0 {
		return "an unknown build"
	}
	if name := Builds[build]; name != "" {
		return fmt.Sprintf("%s (build %d)", name, build)
	}
	return "build " + strconv.Itoa(build)
}

// Server2025 is Windows Server 2025. Whether wmic is there by default wasn't
// confirmed; reports of it missing are of newer Windows builds.
const (
	Server2022 = 20348
	Server2025 = 26100
)
