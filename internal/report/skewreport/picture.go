package skewreport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
)

// The geometry of the picture, in CSS pixels.
const (
	picLeft   = 84  // room for the names of the lines
	picColumn = 160 // from release to release
	picHead   = 44
	picName   = 40 // from the top of a row to its plot
	picPlot   = 96 // height of the plot
	picLine   = 16 // of a line of text
	picRow    = picName + picPlot + 7*picLine
	picStep   = 34 // from an update to the steps before and after it
	picMinors = 4  // minors that a plot has room for at least, so that one looks small
	longest   = 24 // characters that have room in a column

	releaseRoom = 14 // characters of a release, which are larger
)

// picture shows the drivers as rows and the releases as columns: for each
// driver a line of what Linux has and one of what Windows has, a step up for
// each update. Minors are to scale.
type picture struct {
	Width, Height int
	Releases      []picText
	Rows          []picDriver
	// Description says in words what is drawn.
	Description string
}

type picText struct {
	X, Y        int
	Text, Class string
}

type picDriver struct {
	Y, NameY       int
	Name           string
	Minors         []int  // where the lines of the scale are
	Linux, Windows string // points of the polylines
	LinuxY         int
	WindowsY       int
	Bands          []picBand
	Marks          []picMark
	Texts          []picText
}

// picBand is the room between the lines while nothing changes.
type picBand struct {
	X, Y, Width, Height int
	Class               string
}

// picMark is a driver at a moment; Shape is linux, or how Windows reaches
// storage: proxy, host or other.
type picMark struct {
	X, Y  int
	Shape string
}

// newPicture returns nil where there is nothing to draw.
func newPicture(d *Document) *picture {
	drivers := d.byDriver()
	if len(drivers) == 0 {
		return nil
	}
	p := &picture{Height: picHead + len(drivers)*picRow}
	for i, name := range d.releases() {
		p.Releases = append(p.Releases, picText{X: columnX(i), Y: 26, Text: clipTo(name, releaseRoom)})
	}
	p.Width = picLeft + len(p.Releases)*picColumn
	var said []string
	for i, rows := range drivers {
		p.Rows = append(p.Rows, newPicDriver(rows, picHead+i*picRow))
		said = append(said, describe(rows))
	}
	p.Description = strings.Join(said, " ")
	return p
}

func columnX(i int) int { return picLeft + picColumn/2 + i*picColumn }

func (d *Document) byDriver() [][]driverRow {
	var all [][]driverRow
	for _, r := range d.rows() {
		if last := len(all) - 1; last >= 0 && all[last][0].Driver == r.Driver {
			all[last] = append(all[last], r)
		} else {
			all = append(all, []driverRow{r})
		}
	}
	return all
}

// releases are the columns: where the way starts, and each stop on it.
func (d *Document) releases() []string {
	if len(d.Hops) == 0 {
		return []string{cmp.Or(d.From, "now")}
	}
	all := []string{d.Hops[0].From}
	for _, h := range d.Hops {
		all = append(all, h.To)
	}
	return all
}

// stretch is a time on the way in which neither side changes.
type stretch struct {
	from, to       int // x
	linux, windows string
}

// stretches are a driver's, in order: at each release until the steps after the
// update are done, then until those before the next one, then until that.
func stretches(rows []driverRow) []stretch {
	first := rows[0].row
	x := columnX(0)
	all := []stretch{{x, x + picStep, first.LinuxNow, first.Windows}}
	for i, r := range rows {
		if r.row.LinuxTarget == "" {
			break
		}
		last, next := all[len(all)-1], columnX(i+1)
		before := cmp.Or(r.row.WindowsBefore, last.windows)
		after := cmp.Or(r.row.WindowsAfter, before)
		all = append(all,
			stretch{last.to, next - picStep, last.linux, last.windows}, stretch{next - picStep, next, last.linux, before},
			stretch{next, next + picStep, r.row.LinuxTarget, before}, stretch{next + picStep, next + picStep + picStep/2, r.row.LinuxTarget, after})
	}
	return all
}

func newPicDriver(rows []driverRow, y int) picDriver {
	r := picDriver{Y: y, NameY: y + 22, Name: clipTo(rows[0].Driver, 36)}
	all, bottom := stretches(rows), y+picName+picPlot
	heights, most := scale(all)
	unit := picPlot / max(most, picMinors)
	for m := 0; m <= most && unit >= 6; m++ {
		r.Minors = append(r.Minors, bottom-m*unit)
	}
	at := func(v string) (int, bool) { h, ok := heights[v]; return bottom - h*unit, ok }
	r.LinuxY, r.WindowsY = y+picName+8, y+picName+8+picLine
	var linux, windows []string
	for i, s := range all {
		ly, known := at(s.linux)
		if known {
			linux = append(linux, fmt.Sprintf("%d,%d %d,%d", s.from, ly, s.to, ly))
		}
		wy, both := at(s.windows)
		if both {
			windows = append(windows, fmt.Sprintf("%d,%d %d,%d", s.from, wy, s.to, wy))
		}
		band := picBand{X: s.from, Y: y + picName, Width: s.to - s.from, Height: picPlot, Class: gapClass(s.linux, s.windows)}
		if known && both {
			band.Y, band.Height = min(ly, wy), max(ly-wy, wy-ly)
		}
		r.Bands = append(r.Bands, band)
		if changed := i == 0 || all[i-1].linux != s.linux; changed && known {
			r.Marks = append(r.Marks, picMark{s.from, ly, "linux"})
		}
		if changed := i == 0 || all[i-1].windows != s.windows || all[i-1].linux != s.linux; changed && both {
			r.Marks = append(r.Marks, picMark{s.from, wy, shape(rows, s)})
		}
	}
	r.Linux, r.Windows = strings.Join(linux, " "), strings.Join(windows, " ")
	r.Texts = texts(rows, all, bottom)
	return r
}

// scale is how many minors each version is above the lowest, and the most of
// them. Versions of another major have no distance: two minors are left free.
func scale(all []stretch) (heights map[string]int, most int) {
	known := map[string]version.Driver{}
	for _, s := range all {
		for _, text := range []string{s.linux, s.windows} {
			if v, err := version.ParseDriver(text); err == nil {
				known[text] = v
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(known), func(a, b string) int { return known[a].Compare(known[b]) })
	heights = map[string]int{}
	for i, text := range order {
		if i > 0 {
			if v, below := known[text], known[order[i-1]]; v.OtherMajor(below) {
				most += 2
			} else {
				most += v.Distance(below)
			}
		}
		heights[text] = most
	}
	return heights, most
}

// gapClass colours the room between two versions.
func gapClass(linux, windows string) string {
	l, errL := version.ParseDriver(linux)
	w, errW := version.ParseDriver(windows)
	if errL != nil || errW != nil || w.OtherMajor(l) {
		return "unknown"
	}
	far := w.Distance(l)
	return []string{"same", "near", "far"}[min(max(far, -far), 2)]
}

// shape says how a driver reaches storage: as it does now, until it moves.
func shape(rows []driverRow, s stretch) string {
	mode := rows[0].row.Mode
	for _, r := range rows {
		if s.windows != r.row.Windows && s.windows == r.row.WindowsAfter {
			mode = cmp.Or(r.row.ModeTarget, mode)
			break
		}
	}
	switch mode {
	case "csi-proxy":
		return "proxy"
	case "HostProcess":
		return "host"
	}
	return "other"
}

// texts are what is said below the plot, at each release.
func texts(rows []driverRow, all []stretch, bottom int) []picText {
	var list []picText
	say := func(i int, lines ...picText) {
		for n, l := range lines {
			list = append(list, picText{columnX(i), bottom + 24 + n*picLine, clipTo(l.Text, longest), l.Class})
		}
	}
	line := func(class, text string) picText { return picText{Class: class, Text: text} }
	first := rows[0]
	say(0, line("version", "Linux "+cmp.Or(first.row.LinuxNow, "unknown")), line("version", "Windows "+cmp.Or(first.row.Windows, "unknown")),
		line("distance", distance(first.row.LinuxNow, first.row.Windows)), line("mode", cmp.Or(first.row.Mode, "unknown")))
	for i, r := range rows {
		if len(all) < 4*(i+1)+1 {
			break
		}
		arrived, done := all[4*i+3], all[4*i+4]
		mode := line("mode", cmp.Or(r.row.Mode, "unknown"))
		if wanted := cmp.Or(r.row.ModeTarget, r.row.Mode); wanted != r.row.Mode {
			mode = line("mode needs", "needs "+wanted)
		}
		say(i+1, line("version", "Linux "+arrived.linux), line("version", "Windows "+change(arrived.windows, done.windows)),
			line("distance", change(distance(arrived.linux, arrived.windows), distance(done.linux, done.windows))), mode,
			line("outcome "+strings.ToLower(r.Severity.String()), r.Severity.String()))
	}
	return list
}

// describe says a row of the picture in words, for those who don't see it.
func describe(rows []driverRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s.", rows[0].Driver, cmp.Or(rows[0].row.Object, "no object"))
	for _, r := range rows {
		fmt.Fprintf(&b, " %s: Linux %s, Windows %s, distance %s, mode %s", r.Hop, r.Linux, r.Windows, r.Distance, r.Mode)
		if after := r.row.WindowsAfter; after != "" && after != r.row.Windows {
			b.WriteString(", then Windows " + after)
		}
		if r.Severity > finding.Pass {
			b.WriteString(", " + r.Severity.String())
		}
		b.WriteString(".")
	}
	return b.String()
}

// clipTo shortens s to n characters; the table has it whole.
func clipTo(s string, n int) string {
	r := []rune(printable.OneLine(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
