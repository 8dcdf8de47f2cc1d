package skewreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// The geometry of the picture, in CSS pixels.
const (
	picLeft    = 84  // room for the names of the lines
	picColumn  = 148 // from release to release
	picNarrow  = 130 // the same on a long way, so that seven releases fit a screen
	picShort   = 5   // releases that have room for wide columns
	picHead    = 44
	picRow     = 188
	picWindows = 124 // of the Windows line, below the top of a row
	gapNone    = 30  // between the lines where both are the same minor
	gapMinor   = 7   // more for each minor
	gapMost    = 4   // minors that are still drawn apart
	longest    = 17  // characters of a version or mode that have room

	releaseRoom = 14 // characters of a release, which are larger
)

// picture shows the drivers as rows and the releases as columns: for each
// driver a line of what Linux has and one of what Windows has. They part as
// the distance grows.
type picture struct {
	Width, Height int
	Releases      []picLabel
	Rows          []picDriver
	// Description says in words what is drawn.
	Description string
}

type picLabel struct {
	X, Y int
	Text string
}

type picDriver struct {
	Y, NameY         int
	Name             string
	LinuxY, WindowsY int
	Linux, Windows   string // points of the polylines
	Bands            []picBand
	Points           []picPoint
}

// picBand is the room between the lines from one release to the next.
type picBand struct {
	Points, Class string
}

// picPoint is a driver at a release.
type picPoint struct {
	X, LinuxY, WindowsY int
	Linux, Windows      string
	// Distance is in words, in a box; Class colours it.
	Distance, Class           string
	BoxX, BoxY, BoxWidth, Mid int
	// Mode is in words; Shape, proxy, host or other, says it again.
	Mode, Shape string
	// Needs: the release wants another mode.
	Needs bool
	// Verdict is "" at the start of a way.
	Verdict string
}

// newPicture returns nil where there is nothing to draw.
func newPicture(d *Document) *picture {
	tables := d.byDriver()
	if len(tables) == 0 {
		return nil
	}
	p := &picture{Height: picHead + len(tables)*picRow}
	releases := d.releases()
	column := columnWidth(len(releases))
	for i, name := range releases {
		p.Releases = append(p.Releases, picLabel{picLeft + column/2 + i*column, 26, clipTo(name, releaseRoom)})
	}
	p.Width = picLeft + len(p.Releases)*column
	var said []string
	for i, t := range tables {
		row := newPicDriver(t, picHead+i*picRow, len(p.Releases))
		p.Rows = append(p.Rows, row)
		said = append(said, describe(t))
	}
	p.Description = strings.Join(said, " ")
	return p
}

// byDriver are the rows of each driver.
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

func columnWidth(releases int) int {
	if releases > picShort {
		return picNarrow
	}
	return picColumn
}

// releases are the columns: where the way starts, and each stop on it.
func (d *Document) releases() []string {
	if len(d.Hops) == 0 {
		return []string{firstOf(d.From, "now")}
	}
	all := []string{d.Hops[0].From}
	for _, h := range d.Hops {
		all = append(all, h.To)
	}
	return all
}

func newPicDriver(t []driverRow, y, columns int) picDriver {
	r := picDriver{Y: y, NameY: y + 22, Name: clipTo(t[0].Driver, 36), WindowsY: y + picWindows}
	var linux, windows []string
	for i := range columns {
		width := columnWidth(columns)
		p, ok := newPicPoint(t, i, picLeft+width/2+i*width, r.WindowsY)
		if !ok {
			continue
		}
		if last := len(r.Points) - 1; last >= 0 {
			r.Bands = append(r.Bands, newBand(r.Points[last], p))
		}
		r.Points = append(r.Points, p)
		linux = append(linux, fmt.Sprintf("%d,%d", p.X, p.LinuxY))
		windows = append(windows, fmt.Sprintf("%d,%d", p.X, p.WindowsY))
	}
	if len(r.Points) > 0 {
		r.LinuxY = r.Points[0].LinuxY
	}
	r.Linux, r.Windows = strings.Join(linux, " "), strings.Join(windows, " ")
	return r
}

// newPicPoint is the driver at the i-th release, drawn at x: now at the first, at the
// target of the i-th hop at the others.
func newPicPoint(t []driverRow, i, x, windowsY int) (picPoint, bool) {
	at := slices.IndexFunc(t, func(r driverRow) bool { return r.row.Hop == max(i-1, 0) })
	if at < 0 {
		return picPoint{}, false
	}
	r := t[at].row
	p := picPoint{X: x, WindowsY: windowsY, Windows: firstOf(r.Windows, "unknown")}
	minors, wanted := r.DistanceNow, r.Mode
	if i == 0 {
		p.Linux = firstOf(r.LinuxNow, "unknown")
	} else {
		minors, wanted, p.Linux = r.Distance, firstOf(r.ModeTarget, r.Mode), firstOf(r.LinuxTarget, "unknown")
		p.Windows = t[at].Windows
	}
	if i > 0 || r.LinuxTarget == "" {
		p.Verdict = r.Severity.String()
	}
	p.place(minors, firstOf(r.WindowsPlanned, r.Windows))
	p.setMode(r.Mode, wanted)
	p.Linux, p.Windows = clip(p.Linux), clip(p.Windows)
	return p, true
}

// place puts the Linux line above the Windows line, the higher the farther
// apart.
func (p *picPoint) place(minors *int, windows string) {
	p.Distance, p.Class = distance(minors, p.Linux, windows), "unknown"
	gap := gapNone + gapMost*gapMinor
	if far, known := gapOf(minors, p.Linux, windows); known {
		p.Class = []string{"same", "near", "far"}[min(far, 2)]
		gap = gapNone + min(far, gapMost)*gapMinor
	}
	p.LinuxY, p.Mid = p.WindowsY-gap, p.WindowsY-gap/2
	p.BoxWidth = 16 + 15*len([]rune(p.Distance))/2
	p.BoxX, p.BoxY = p.X-p.BoxWidth/2, p.Mid-9
}

// setMode says how the driver runs, and where the release wants it otherwise.
func (p *picPoint) setMode(mode, wanted string) {
	p.Mode, p.Shape = clip(firstOf(mode, "unknown")), "other"
	switch mode {
	case "csi-proxy":
		p.Shape = "proxy"
	case "HostProcess":
		p.Shape = "host"
	}
	if wanted != mode {
		p.Mode, p.Needs = clip("needs "+wanted), true
	}
}

func newBand(a, b picPoint) picBand {
	return picBand{
		Points: fmt.Sprintf("%d,%d %d,%d %d,%d %d,%d", a.X, a.LinuxY, b.X, b.LinuxY, b.X, b.WindowsY, a.X, a.WindowsY),
		Class:  b.Class,
	}
}

// describe says a row of the picture in words, for those who don't see it.
func describe(t []driverRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s.", t[0].Driver, firstOf(t[0].row.Object, "no object"))
	for _, r := range t {
		fmt.Fprintf(&b, " %s: Linux %s, Windows %s, distance %s, mode %s", r.Hop, r.Linux, r.Windows, r.Distance, r.Mode)
		if r.Severity > finding.Pass {
			b.WriteString(", " + r.Severity.String())
		}
		b.WriteString(".")
	}
	return b.String()
}

func clip(s string) string { return clipTo(s, longest) }

// clipTo shortens s to n characters; the tables below the picture have it
// whole.
func clipTo(s string, n int) string {
	r := []rune(oneLine(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
