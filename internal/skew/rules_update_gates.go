package skew

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// adminGates is INTREE005: acknowledgements that the update waits for.
func adminGates(w *world) []draft {
	if w.Phase != Target {
		return nil
	}
	var said []draft
	for _, g := range w.openGates() {
		f := draft{Severity: finding.Info, Object: g.Key, When: before, PlanInfo: g.Driver == ""}
		f.Observed = "not among the acknowledgements that were read"
		switch d := w.cat.Driver(g.Driver); {
		case g.pending:
			f.Severity, f.Observed = finding.Warn, "the cluster asks for it, and it isn't acknowledged"
		case d == nil || d.InTree == "":
		case w.hasInTree(d.InTree):
			f.Severity = finding.Warn
			f.Observed += ", and the cluster has volumes of " + d.InTree
		case !w.covered(inventory.Volumes) && !w.req.Static:
			f.Severity = finding.Warn
			f.Observed += ", and whether the cluster has volumes of " + d.InTree + " wasn't read"
		}
		f.Expected = "acknowledged, where the update asks for it: " + g.Applies
		f.Why = "the update doesn't start while a gate that applies isn't acknowledged; do it when its condition is met, not to get past it"
		if len(g.Evidence) > 0 {
			f.Source = g.Evidence[0].Source
		}
		f.Do = []action.Action{action.AckGate{Key: g.Key, Applies: g.Applies}}
		f.Evidence = cite(append(g.at, w.inv.Cluster.Evidence...))
		said = append(said, f)
	}
	return said
}

// gate is an acknowledgement that may be open.
type gate struct {
	catalog.Gate
	// pending: the cluster itself says that it waits for this one.
	pending bool
	at      []inventory.Evidence
}

// openGates are the acknowledgements of a hop that weren't given. What the
// cluster asks for now it says itself, in admin-gates and by its condition; of
// the catalog's are those that nothing of it speaks against.
func (w *world) openGates() []gate {
	c := &w.inv.Cluster
	upgradeable := c.Condition("Upgradeable")
	waits := upgradeable != nil && upgradeable.Status == "False" && strings.Contains(upgradeable.Reason+upgradeable.Message, ackRequired)
	var open []gate
	for _, g := range w.hopGates() {
		if slices.Contains(c.AdminAcks, g.Key) {
			continue
		}
		if first := w.Hop == 0; first && g.Driver == "" && len(g.at) == 0 {
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
func (w *world) hopGates() []gate {
	c := &w.inv.Cluster
	var list []gate
	if w.Hop > 0 || !w.covered(inventory.AdminGates) {
		for _, g := range w.cat.GatesOf(w.from(), w.to()) {
			if w.onPlatform(g) {
				list = append(list, gate{Gate: g})
			}
		}
		return list
	}
	for _, have := range c.AdminGates {
		if !strings.HasPrefix(have.Key, "ack-"+w.from()+"-") || w.from() == w.to() {
			continue
		}
		g := gate{Gate: catalog.Gate{Key: have.Key, Applies: strings.Join(strings.Fields(have.Message), " ")}, pending: w.covered(inventory.AdminAcks), at: []inventory.Evidence{have.At}}
		if i := slices.IndexFunc(w.cat.Gates, func(k catalog.Gate) bool { return k.Key == have.Key }); i >= 0 {
			g.Gate = w.cat.Gates[i]
		}
		list = append(list, g)
	}
	return list
}

// onPlatform tells whether a gate of a driver may concern this cluster.
func (w *world) onPlatform(g catalog.Gate) bool {
	d := w.cat.Driver(g.Driver)
	if d == nil || d.Platform == "" || d.Platform == w.inv.Cluster.Platform {
		return true
	}
	return w.inv.Cluster.Platform == "" && w.maybeOn(d.Platform)
}

// maybeOn tells whether what was read may be of a cluster on a platform that
// nobody named: no driver and no in-tree volume is of another, or one is of it.
func (w *world) maybeOn(platform string) bool {
	seen := map[string]bool{}
	for i := range w.inv.Drivers {
		if d := w.lineOf(&w.inv.Drivers[i]); d != nil && d.Platform != "" {
			seen[d.Platform] = true
		}
	}
	for _, use := range w.inTreeUses() {
		if d := w.cat.ByInTree(use.plugin); d != nil {
			seen[d.Platform] = true
		}
	}
	for _, l := range w.inv.Leftovers {
		if d := w.cat.ByInTree(l.InTree); d != nil {
			seen[d.Platform] = true
		}
	}
	return len(seen) == 0 || seen[platform]
}

// hasInTree tells whether the cluster has volumes of an in-tree plugin.
func (w *world) hasInTree(plugin string) bool {
	return slices.ContainsFunc(w.inv.Leftovers, func(l inventory.Leftover) bool { return l.InTree == plugin }) ||
		slices.ContainsFunc(w.inv.Volumes, func(u inventory.VolumeUse) bool { return u.InTree == plugin })
}
