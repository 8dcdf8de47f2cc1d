package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

func (e *evaluation) rows() []Row {
	var rows []Row
	for _, snap := range e.moments {
		if snap.Phase != snapshot.Target && snap.Hops > 0 {
			continue
		}
		for _, v := range snap.Views {
			row := row(v)
			if row.ModeTarget != row.Mode && !e.mustMove(v) {
				row.ModeTarget = row.Mode // both ways work, and the present one stays
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func row(v *snapshot.View) Row {
	row := Row{
		Hop: v.At.Hop, Driver: v.DaemonSet.Line, Provisioner: v.DaemonSet.Provisioner, Object: v.DaemonSet.Object.String(),
		LinuxNow: v.LinuxNow.String(), Windows: snapshot.UnknownVersion,
		Mode: v.DaemonSet.Mode(), Certainty: string(v.Linux().Certainty()),
	}
	if w, known := v.Windows(); known {
		row.Windows = w.String()
		row.DistanceNow, row.SameCommitNow = distanceTo(&v.LinuxNow, w), v.SameCommit(&v.LinuxNow)
		if v.At.Hops > 0 && !v.FollowsLinux() {
			row.Distance, row.SameCommit = distanceTo(&v.LinuxTarget, w), v.SameCommit(&v.LinuxTarget)
		}
	}
	if v.At.Hops > 0 {
		row.LinuxTarget = v.LinuxTarget.String()
		row.ModeTarget = modeAt(v, &v.LinuxTarget)
	}
	return row
}

// distanceTo is how many minors a Windows version is behind (-) or ahead (+);
// nil where that isn't one number of minors.
func distanceTo(l *snapshot.Linux, windows version.Driver) *int {
	low, high, ok := l.Distance(windows)
	if _, months := l.Holds(windows.Calendar); !ok || months || low != high {
		return nil
	}
	return &low
}

// modeAt is how a driver of the Linux side's version reaches Windows storage;
// "" where that isn't known or both are usual.
func modeAt(v *snapshot.View, l *snapshot.Linux) string {
	var modes []string
	for _, c := range l.Candidates {
		modes = append(modes, modeOf(v.Catalog.Line(c.Version)))
	}
	if modes = snapshot.Unique(modes); len(modes) != 1 {
		return ""
	}
	return modes[0]
}

func modeOf(line *catalog.Line) string {
	switch {
	case line == nil:
		return ""
	case line.HostProcess == catalog.HostProcessDefault || line.HostProcess == catalog.HostProcessMandatory:
		return "HostProcess"
	case len(line.API) == 0:
		return "none"
	}
	return "csi-proxy"
}

func (e *evaluation) mustMove(v *snapshot.View) bool {
	for _, entry := range e.found.Entries {
		for _, a := range entry.Said.Do {
			if to := action.Outcome(a); to != nil && entry.Hop <= v.At.Hop && to.Object == v.DaemonSet.Object && to.HostProcess != v.DaemonSet.HostProcess {
				return true
			}
		}
	}
	return v.Catalog.Line(v.LinuxTarget.Newest()).HostProcessOnly()
}

// moved notes where a plan has the Windows drivers, before or after a hop's
// update.
func (r *Result) moved(hop int, when string, inv *inventory.Inventory) {
	for i := range r.Drivers {
		row := &r.Drivers[i]
		j := slices.IndexFunc(inv.Drivers, func(d inventory.Driver) bool { return d.Object.String() == row.Object })
		switch {
		case row.Hop != hop || j < 0 || !inv.Drivers[j].Version.Known:
		case when == rules.Before:
			row.WindowsBefore = inv.Drivers[j].Version.Version.String()
		default:
			row.WindowsAfter = inv.Drivers[j].Version.Version.String()
		}
	}
}
