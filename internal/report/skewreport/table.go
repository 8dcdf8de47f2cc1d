package skewreport

import (
	"cmp"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/skew"
)

// driverTable is one Windows driver on its way over the hops.
type driverTable struct {
	Name, Provisioner, Object string
	// Certainty is set where the catalog isn't exact about the Linux versions.
	Certainty string
	Rows      []tableRow
}

// tableRow is one hop of a driver, in words.
type tableRow struct {
	Hop, LinuxNow, LinuxTarget, Windows, Distance, Mode string
	Severity                                            finding.Severity
	row                                                 skew.Row
}

var tableHead = []string{"hop", "Linux now", "Linux target", "Windows", "distance", "mode", "verdict"}

func (r tableRow) cells() []string {
	return []string{r.Hop, r.LinuxNow, r.LinuxTarget, r.Windows, r.Distance, r.Mode, r.Severity.String()}
}

// shortCells are cells with the distance at the target alone.
func (r tableRow) shortCells() []string {
	c := r.cells()
	if _, target, ok := strings.Cut(r.Distance, " -> "); ok {
		c[4] = target
	}
	return c
}

// plainCells are shortCells without the variants of HostProcess images.
func (r tableRow) plainCells() []string {
	c := r.shortCells()
	c[3] = strings.NewReplacer("-windows-hp", "", "-windows-hostprocess", "").Replace(c[3])
	return c
}

// tables groups the rows by driver. Rows are sorted already.
func (d *Document) tables() []driverTable {
	var all []driverTable
	for _, r := range d.Drivers {
		last, name := len(all)-1, cmp.Or(r.Driver, r.Provisioner, "unknown driver")
		if last < 0 || all[last].Name != name || all[last].Object != r.Object {
			all = append(all, driverTable{Name: name, Provisioner: r.Provisioner, Object: r.Object})
			if last++; r.Driver == "" {
				all[last].Provisioner = "" // it is the name already, or not known
			}
		}
		t := &all[last]
		if r.Certainty != "" && r.Certainty != "exact" {
			t.Certainty = r.Certainty
		}
		t.Rows = append(t.Rows, d.tableRow(r))
	}
	return all
}

func (d *Document) tableRow(r skew.Row) tableRow {
	row := tableRow{
		Hop:      d.hopOf(r.Hop),
		LinuxNow: cmp.Or(r.LinuxNow, "unknown"), LinuxTarget: cmp.Or(r.LinuxTarget, "unknown"),
		Windows: change(cmp.Or(r.Windows, "unknown"), r.WindowsPlanned),
		Mode:    change(cmp.Or(r.Mode, "unknown"), r.ModeTarget), Severity: r.Severity, row: r,
	}
	windows := cmp.Or(r.WindowsPlanned, r.Windows)
	now := distance(r.DistanceNow, r.LinuxNow, r.Windows)
	row.Distance = change(now, distance(r.Distance, r.LinuxTarget, windows))
	if d.To == "" {
		row.LinuxTarget, row.Distance = "-", now
	}
	return row
}

// CertaintyNote says what the catalog's certainty means for the reader, "" for
// exact.
func (t driverTable) CertaintyNote() string {
	switch t.Certainty {
	case "":
		return ""
	case "range":
		return "The Linux versions are known by ranges of patch releases, whose edges may be off by one."
	case "default":
		return "The Linux versions are known for the minor release as a whole; a patch release may have another."
	}
	return "The Linux versions are known with certainty " + t.Certainty + "."
}
