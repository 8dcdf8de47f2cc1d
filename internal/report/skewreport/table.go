package skewreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// fewDrivers is how many drivers the short text shows at most.
const fewDrivers = 6

// driverRow is a driver at a hop, or on the whole way, in words.
type driverRow struct {
	// Driver is the catalog's name, or the DaemonSet's where several share it.
	Driver, Hop, Linux, Windows, Distance, Mode string
	Severity                                    finding.Severity
	row                                         skew.Row
}

var tableHead = []string{"driver", "update", "Linux", "Windows", "distance", "mode", "verdict"}

func (r driverRow) cells() []string {
	return []string{r.Driver, r.Hop, r.Linux, r.Windows, r.Distance, r.Mode, r.Severity.String()}
}

// targetOnly leaves out the distance before the update, where a table is too
// wide.
func (r driverRow) targetOnly() []string {
	_, target, ok := strings.Cut(r.Distance, " -> ")
	if ok {
		r.Distance = target
	}
	return r.cells()
}

// rows are all drivers at all hops, the worst driver first.
func (d *Document) rows() []driverRow {
	all := make([]driverRow, len(d.Drivers))
	worst := map[string]finding.Severity{}
	for i, r := range d.Drivers {
		all[i] = d.driverRow(r)
		worst[r.Object] = max(worst[r.Object], r.Severity)
	}
	slices.SortStableFunc(all, func(a, b driverRow) int { return cmp.Compare(worst[b.row.Object], worst[a.row.Object]) })
	return all
}

// routes has a row for each driver: from where it starts to where it ends.
func (d *Document) routes() []driverRow {
	var all []driverRow
	for _, r := range d.rows() {
		last := len(all) - 1
		if last < 0 || all[last].row.Object != r.row.Object {
			all = append(all, r)
			continue
		}
		way := all[last].row
		way.SameCommit = r.row.SameCommit
		way.LinuxTarget, way.ModeTarget = r.row.LinuxTarget, cmp.Or(r.row.ModeTarget, way.ModeTarget)
		way.Severity = max(way.Severity, r.Severity)
		all[last] = d.driverRow(way)
	}
	return all
}

func (d *Document) driverRow(r skew.Row) driverRow {
	row := driverRow{
		Driver: d.driverName(r), Hop: d.hopOf(r.Hop), Linux: cmp.Or(r.LinuxNow, "unknown"),
		Windows:  cmp.Or(r.Windows, "unknown"),
		Distance: commitOr(r.SameCommitNow, r.LinuxNow, r.Windows),
		Mode:     change(cmp.Or(r.Mode, "unknown"), r.ModeTarget), Severity: r.Severity, row: r,
	}
	if row.Severity == finding.Info {
		row.Severity = finding.Pass // a verdict says what to do, and INFO is nothing to do
	}
	if d.To != "" {
		row.Linux = change(row.Linux, cmp.Or(r.LinuxTarget, "unknown"))
		row.Distance = change(row.Distance, commitOr(r.SameCommit, r.LinuxTarget, r.Windows))
	}
	return row
}

func (d *Document) driverName(r skew.Row) string {
	name := cmp.Or(r.Driver, r.Provisioner, "unknown driver")
	shared, short := r.Driver == "" && r.Provisioner == "", shortObject(r.Object)
	for _, o := range d.Drivers {
		if o.Object != r.Object && o.Driver == r.Driver && o.Provisioner == r.Provisioner {
			shared = true
			if shortObject(o.Object) == shortObject(r.Object) {
				short = strings.TrimPrefix(r.Object, "DaemonSet ") // of another namespace
			}
		}
	}
	if shared {
		return cmp.Or(short, name)
	}
	return name
}

func shortObject(object string) string { return object[strings.LastIndexAny(object, "/ ")+1:] }

// drivers writes one table: a row for each driver, or for each at each hop.
func (w *textWriter) drivers() {
	rows, more := w.routes(), 0
	if w.Details {
		rows = w.rows()
	} else if most := max(w.most, 1); len(rows) > most {
		rows, more = rows[:most], len(rows)-most
	}
	if len(rows) == 0 {
		return
	}
	w.line("")
	full := w.cells(rows, driverRow.cells)
	if tableWidth(full) > w.Width {
		full = w.cells(rows, driverRow.targetOnly)
	}
	if name := widths(full)[0]; tableWidth(full)-w.Width <= name-minRoom {
		room := name - max(tableWidth(full)-w.Width, 0)
		for _, row := range full {
			row[0] = cutFront(row[0], room)
		}
	}
	if tableWidth(full) <= w.Width {
		w.table(rows, full)
	} else {
		w.stacked(full)
	}
	if more > 0 {
		w.line("and " + inventory.Many(more, "more driver") + ", none worse: --details")
	}
	if w.Details {
		for _, note := range w.certaintyNotes() {
			w.prose("", 0, note)
		}
	}
}

// cells are the rows below the heads of the columns. Without several updates
// there is none to name.
func (w *textWriter) cells(rows []driverRow, cells func(driverRow) []string) [][]string {
	all := [][]string{slices.Clone(tableHead)}
	for _, r := range rows {
		all = append(all, cells(r))
	}
	if !w.Details || len(w.Hops) < 2 {
		for i := range all {
			all[i] = slices.Delete(all[i], 1, 2)
		}
	}
	return all
}

func widths(rows [][]string) []int {
	all := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, cell := range row {
			all[c] = max(all[c], printable.Columns(cell))
		}
	}
	return all
}

func tableWidth(rows [][]string) int {
	total := -2
	for _, n := range widths(rows) {
		total += 2 + n
	}
	return total
}

func (w *textWriter) table(drivers []driverRow, rows [][]string) {
	wide := widths(rows)
	for i, row := range rows {
		last := len(row) - 1
		var b strings.Builder
		for c, cell := range row[:last] {
			b.WriteString(pad(cell, wide[c]) + "  ")
		}
		if i > 0 {
			row[last] = w.colored(row[last], drivers[i-1].Severity)
		}
		w.line(b.String() + row[last])
	}
}

// stacked writes one cell below the other, for narrow terminals.
func (w *textWriter) stacked(rows [][]string) {
	const name = len("distance")
	for i, row := range rows[1:] {
		if i > 0 {
			w.line("")
		}
		for c, cell := range row {
			w.prose(pad(rows[0][c], name)+"  ", name+2, cell)
		}
	}
}

// certaintyNotes say where the catalog isn't exact about Linux versions.
func (d *Document) certaintyNotes() []string {
	var notes []string
	for _, r := range d.Drivers {
		if note := certaintyNote(r.Certainty); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

func certaintyNote(certainty string) string {
	switch certainty {
	case "", "exact":
		return ""
	case "range":
		return "Some Linux versions are known by ranges of patch releases, whose edges may be off by one."
	case "default":
		return "Some Linux versions are known for the minor release as a whole; a patch release may have another."
	}
	return "Some Linux versions are known with certainty " + certainty + "."
}

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-printable.Columns(s))) }

// cutTo is text in one line of so many columns.
func cutTo(text string, width int) string {
	text = printable.OneLine(text)
	if printable.Columns(text) <= width {
		return text
	}
	const more = " ..."
	used := len(more)
	for i, r := range text {
		if used += printable.Columns(string(r)); used <= width {
			continue
		}
		if space := strings.LastIndexByte(text[:i], ' '); space > 0 {
			i = space // between words: half a name is another's
		}
		return strings.TrimRight(text[:i], " ;:,") + more
	}
	return text
}

// cutFront is the end of text in so many columns.
func cutFront(text string, width int) string {
	for r := []rune(text); printable.Columns(text) > width && len(r) > 3; r = r[1:] {
		text = "..." + string(r[3:])
	}
	return text
}

// tally names each of the words once, with how often it is there.
func tally(words []string) string {
	var order []string
	times := map[string]int{}
	for _, w := range words {
		if times[w]++; times[w] == 1 {
			order = append(order, w)
		}
	}
	for i, w := range order {
		if n := times[w]; n > 1 {
			order[i] = fmt.Sprintf("%s (%d)", w, n)
		}
	}
	return strings.Join(order, ", ")
}
