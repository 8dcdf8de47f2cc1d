package snapshot

import "github.com/winbake/winbake/internal/inventory"

// Moments are the cluster at each phase of each hop, in the order of time.
func (snap *Snapshot) Moments() []*Snapshot {
	list := []*Snapshot{snap.moment(0, Now)} // later hops begin as the one before them ended
	hops := len(snap.Route.Stops) - 1
	for hop := range hops {
		list = append(list, snap.moment(hop, Target))
	}
	if hops > 0 && len(snap.Request.Planned) > 0 {
		list = append(list, snap.moment(hops-1, Planned))
	}
	return list
}

// moment is the cluster at one moment.
func (snap *Snapshot) moment(hop int, phase Phase) *Snapshot {
	base := snap
	snap = new(Snapshot)
	*snap = *base
	snap.Phase, snap.Hop, snap.Hops, snap.From = phase, hop, len(snap.Route.Stops)-1, snap.Route.Stops[hop]
	if snap.Hops > 0 {
		snap.To, snap.Target = snap.Route.Stops[hop+1], snap.Route.End()
	}
	for _, d := range snap.windowsDrivers(phase) {
		now := snap.linuxAt(d, snap.From, hop == 0)
		target := now
		if snap.Hops > 0 {
			target = snap.forward(d, &now, snap.linuxAt(d, snap.To, false))
		}
		snap.Views = append(snap.Views, &View{
			At: snap, DaemonSet: d, Planned: snap.IsPlanned(d), Catalog: snap.LineOf(d), Line: snap.LineAt(d),
			LinuxNow: now, LinuxTarget: target, Nodes: snap.Scope(d),
		})
	}
	return snap
}

// windowsDrivers are the Windows drivers in a phase. Planned ones take the place of those
// that they replace.
func (snap *Snapshot) windowsDrivers(phase Phase) []*inventory.Driver {
	if phase != Planned {
		return snap.Windows
	}
	stay := Select(snap.Windows, func(d *inventory.Driver) bool { return len(snap.Replacements(d)) == 0 })
	return append(stay, snap.PlannedWindows...)
}

// Underway tells whether the update that is checked is one that the cluster
// itself is in the middle of, and no other was asked for.
func (snap *Snapshot) Underway() bool {
	return snap.Request.To == "" && snap.Inventory.Cluster.Updating != ""
}
