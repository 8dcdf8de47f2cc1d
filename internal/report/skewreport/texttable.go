package skewreport

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// drivers writes a small table for each driver.
func (w *textWriter) drivers() {
	for _, t := range w.tables() {
		w.heading(strings.Join(slices.DeleteFunc([]string{t.Name, t.Provisioner, t.Object}, func(s string) bool { return s == "" }), "  "))
		w.table(t)
		if note := t.CertaintyNote(); note != "" {
			w.prose("  ", 2, note)
		}
	}
}

// table writes the rows as columns. Where those don't fit it leaves out the
// distance before each hop, which the row above tells, then the variants of
// images, which the mode tells, and if that isn't enough it writes one cell
// below the other.
func (w *textWriter) table(t driverTable) {
	full := w.rows(t, tableRow.cells)
	for _, rows := range [][][]string{full, w.rows(t, tableRow.shortCells), w.rows(t, tableRow.plainCells)} {
		if tableWidth(rows) <= w.Width {
			w.columns(t, rows)
			return
		}
	}
	w.stacked(full)
}

func (w *textWriter) rows(t driverTable, cells func(tableRow) []string) [][]string {
	rows := [][]string{slices.Clone(tableHead)}
	for _, r := range t.Rows {
		rows = append(rows, cells(r))
	}
	if w.To == "" {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 2, 3) // no target, no column
		}
	}
	return rows
}

func widths(rows [][]string) []int {
	all := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, cell := range row {
			all[c] = max(all[c], columns(cell))
		}
	}
	return all
}

func tableWidth(rows [][]string) int {
	total := 0
	for _, n := range widths(rows) {
		total += 2 + n
	}
	return total
}

func (w *textWriter) columns(t driverTable, rows [][]string) {
	wide := widths(rows)
	for i, row := range rows {
		last := len(row) - 1
		var b strings.Builder
		for c, cell := range row[:last] {
			b.WriteString("  " + pad(cell, wide[c]))
		}
		if i > 0 {
			row[last] = w.colored(row[last], t.Rows[i-1].Severity)
		}
		w.line(b.String() + "  " + row[last])
	}
}

func (w *textWriter) stacked(rows [][]string) {
	const name = len("Linux target")
	for i, row := range rows[1:] {
		if i > 0 {
			w.line("")
		}
		for c, cell := range row {
			w.prose("  "+pad(rows[0][c], name)+"  ", name+4, cell)
		}
	}
}

// accepted shows what --accept lowered: lowered isn't hidden.
func (w *textWriter) accepted() {
	first := true
	for _, f := range w.Findings {
		if f.Accepted == "" {
			continue
		}
		if first {
			w.heading("Accepted by you")
		} else {
			w.line("")
		}
		first = false
		w.finding(f, w.colored(pad(f.Accepted, labelWidth), finding.Info))
	}
}

func (w *textWriter) notEvaluated() {
	if len(w.NotEvaluated) == 0 {
		return
	}
	w.heading("Rules not evaluated")
	width := 0
	for _, n := range w.NotEvaluated {
		width = min(max(width, columns(n.Rule)), minRoom)
	}
	for _, n := range w.NotEvaluated {
		w.prose("  "+pad(n.Rule, width)+"  ", width+4, n.Reason)
	}
}

func (w *textWriter) sources() {
	w.heading("What was read")
	for _, l := range w.readLines() {
		w.prose("  ", 2, l)
	}
	for _, p := range w.untold() {
		w.prose("  ", 4, "couldn't read "+problem(p))
		if p.Fix != "" {
			w.line("    fix: " + p.Fix)
		}
	}
	if n := len(w.Problems) - len(w.untold()); n > 0 {
		w.prose("  ", 2, "couldn't read "+count(n, "input")+": DATA002 says which, and why")
	}
}

// untold are the problems that no finding tells of.
func (w *textWriter) untold() []inventory.Problem {
	return slices.DeleteFunc(slices.Clone(w.Problems), func(p inventory.Problem) bool {
		return slices.ContainsFunc(w.Findings, func(f finding.Finding) bool { return f.ID == "DATA002" && f.Object == p.Where })
	})
}

// next points at the plan. Without a target there is none, and one that the
// cluster itself named has to be named to the plan.
func (w *textWriter) next() {
	if len(w.Steps) == 0 || w.To == "" {
		return
	}
	command := "verify skew plan"
	if rest, ok := strings.CutPrefix(w.Tool.CommandLine, "verify skew "); ok {
		command += " " + rest
	}
	if !strings.Contains(command, " --to ") {
		command += " --to " + w.To
	}
	w.heading("What to do, in order")
	w.line("  " + command)
}
