package skew

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// rows are the Windows drivers at every hop.
func (e *evaluation) rows() []Row {
	var rows []Row
	for _, w := range e.moments {
		if w.Phase == Target || w.Hops == 0 {
			for _, v := range w.Views {
				row := v.row()
				if w.Hop == w.Hops-1 {
					row.WindowsPlanned = e.plannedVersions(v.D)
				}
				if row.ModeTarget != row.Mode && !e.mustMove(v) {
					row.ModeTarget = row.Mode // both ways work, and the present one stays
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// plannedVersions are the versions that were planned in place of a DaemonSet; ""
// for none.
func (e *evaluation) plannedVersions(d *inventory.Driver) string {
	var list []string
	for _, p := range e.heirs(d) {
		if v := p.Version.Version.String(); p.Version.Known && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return strings.Join(list, " or ")
}

func (v *view) row() Row {
	row := Row{
		Hop: v.Hop, Driver: v.D.Line, Provisioner: v.D.Provisioner, Object: v.D.Object.String(),
		LinuxNow: v.LinuxNow.String(), Windows: unknown,
		Mode: v.D.Mode(), Certainty: string(v.Linux().Certainty()),
	}
	if w, known := v.Windows(); known {
		row.Windows = w.String()
		row.DistanceNow = distanceTo(&v.LinuxNow, w)
		if v.Hops > 0 && !v.Moves() {
			row.Distance = distanceTo(&v.LinuxTarget, w)
		}
	}
	if v.Hops > 0 {
		row.LinuxTarget = v.LinuxTarget.String()
		row.ModeTarget = v.modeAt(&v.LinuxTarget)
	}
	return row
}

// distanceTo is how many minors a Windows version is behind (-) or ahead (+);
// nil where that isn't one number of minors.
func distanceTo(l *linuxSide, windows version.Driver) *int {
	var found *int
	for _, c := range l.Candidates {
		if c.Version.Major != windows.Major || windows.Calendar(c.Version) {
			return nil
		}
		d := windows.Distance(c.Version)
		if found != nil && *found != d {
			return nil
		}
		found = &d
	}
	return found
}

// modeAt is how a driver of the Linux side's version reaches Windows storage;
// "" where that isn't known or both are usual.
func (v *view) modeAt(l *linuxSide) string {
	if v.Catalog == nil || !l.Known() {
		return ""
	}
	mode := ""
	for i, c := range l.Candidates {
		line := v.Catalog.Line(c.Version)
		if line == nil {
			return ""
		}
		m := modeOf(line)
		if i > 0 && m != mode {
			return ""
		}
		mode = m
	}
	return mode
}

// modeOf is what a line's own manifests use.
func modeOf(line *catalog.Line) string {
	switch line.HostProcess {
	case catalog.HostProcessDefault, catalog.HostProcessMandatory:
		return "HostProcess"
	case catalog.HostProcessNone, catalog.HostProcessOptional:
	}
	if len(line.API) == 0 {
		return "none"
	}
	return "csi-proxy"
}

// mustMove tells whether a driver is asked to change how it reaches storage.
func (e *evaluation) mustMove(v *view) bool {
	for _, entry := range e.sink.entries {
		for _, a := range entry.do {
			if to := action.Becomes(a); to != nil && entry.hop <= v.Hop && to.Object == v.D.Object && to.HostProcess != v.D.HostProcess {
				return true
			}
		}
	}
	if v.Catalog == nil {
		return false
	}
	line := v.Catalog.Line(v.LinuxTarget.Newest())
	return line != nil && (mandatory(line) || v.D.HostProcess && !canHostProcess(line))
}
