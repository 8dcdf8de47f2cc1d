package update

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// gate is an acknowledgement that may be open.
type gate struct {
	catalog.Gate
	// pending: the cluster itself says that it waits for this one.
	pending bool
	at      []inventory.Evidence
}

// openGates are the acknowledgements of a hop that weren't given. What the
// cluster asks for now it says itself, in admin-gates and by its condition; of
// the catalog's are those that nothing of it rules out.
func openGates(snap *snapshot.Snapshot) []gate {
	c := &snap.Inventory.Cluster
	upgradeable := c.Condition("Upgradeable")
	waits := upgradeable != nil && upgradeable.Status == "False" && strings.Contains(upgradeable.Reason+upgradeable.Message, ackRequired)
	var open []gate
	for _, g := range hopGates(snap) {
		if slices.Contains(c.AdminAcks, g.Key) {
			continue
		}
		if first := snap.Hop == 0; first && g.Driver == "" && len(g.at) == 0 {
			if len(c.Conditions) > 0 && !waits {
				continue // the cluster was asked, and doesn't wait
			}
			g.pending = waits
		}
		open = append(open, g)
	}
	return open
}

// hopGates are all gates of a hop: the cluster's own where they were read, which
// is of its present release alone, otherwise the catalog's.
func hopGates(snap *snapshot.Snapshot) []gate {
	c := &snap.Inventory.Cluster
	var list []gate
	if snap.Hop > 0 || !snap.Covered(inventory.AdminGates) {
		here := snapshot.Select(snap.Catalog.GatesOf(snap.FromMinor(), snap.ToMinor()), func(g catalog.Gate) bool { return onPlatform(snap, g) })
		return snapshot.Map(here, func(g catalog.Gate) gate { return gate{Gate: g} })
	}
	for _, have := range c.AdminGates {
		if !strings.HasPrefix(have.Key, "ack-"+snap.FromMinor()+"-") || snap.FromMinor() == snap.ToMinor() {
			continue
		}
		g := gate{Gate: catalog.Gate{Key: have.Key, Applies: printable.OneLine(have.Message)}, pending: snap.Covered(inventory.AdminAcks), at: []inventory.Evidence{have.At}}
		if i := slices.IndexFunc(snap.Catalog.Gates, func(k catalog.Gate) bool { return k.Key == have.Key }); i >= 0 {
			g.Gate = snap.Catalog.Gates[i]
		}
		list = append(list, g)
	}
	return list
}

// onPlatform tells whether a gate of a driver may concern this cluster.
func onPlatform(snap *snapshot.Snapshot, g catalog.Gate) bool {
	d := snap.Catalog.Driver(g.Driver)
	if d == nil || d.Platform == "" || d.Platform == snap.Inventory.Cluster.Platform {
		return true
	}
	return snap.Inventory.Cluster.Platform == "" && maybeOn(snap, d.Platform)
}

// maybeOn tells whether what was read may be of a cluster on a platform that
// nobody named: no driver and no in-tree volume is of another, or one is of it.
func maybeOn(snap *snapshot.Snapshot, platform string) bool {
	seen := slices.Concat(snapshot.Map(snap.Drivers, snap.LineOf),
		snapshot.Map(snap.InTreeUses(), func(u snapshot.InTreeUse) *catalog.Driver { return snap.Catalog.ByInTree(u.Plugin) }),
		snapshot.Map(snap.Inventory.Leftovers, func(l inventory.Leftover) *catalog.Driver { return snap.Catalog.ByInTree(l.InTree) }))
	tied := snapshot.Select(seen, func(d *catalog.Driver) bool { return d != nil && d.Platform != "" })
	return len(tied) == 0 || slices.ContainsFunc(tied, func(d *catalog.Driver) bool { return d.Platform == platform })
}

const ackRequired = "AdminAckRequired"
