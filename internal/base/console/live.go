package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/printable"
)

type liveLine struct {
	last  event.Event
	began time.Time // the phase
}

// render returns at most rows lines, each narrower than columns: a line that
// reaches the last column would wrap on some terminals.
func render(live []*liveLine, columns, rows int) []string {
	var lines []string
	for i, l := range live {
		if len(lines) == rows-1 && len(live) > rows {
			lines = append(lines, cut(fmt.Sprintf("and %d more", len(live)-i), columns-1))
			break
		}
		lines = append(lines, cut(l.String(), columns-1))
	}
	return lines[:max(0, min(len(lines), rows))]
}

// String is the whole line, whatever its width.
func (l *liveLine) String() string {
	e := l.last
	s := fmt.Sprintf("%-28s %-8s %4ds", cleanLine(e.Object), e.Phase, int(time.Since(l.began).Seconds()))
	for _, part := range []string{amount(e), cleanLine(e.Message)} {
		if part != "" {
			s += "  " + part
		}
	}
	return s
}

// amount tells how far a phase is, in the unit that it counts.
func amount(e event.Event) string {
	switch {
	case e.Done == 0 && e.Total == 0:
		return ""
	case !countsBytes(e.Phase) && e.Total == 0:
		return fmt.Sprint(e.Done)
	case !countsBytes(e.Phase):
		return fmt.Sprintf("%d/%d", e.Done, e.Total)
	case e.Total == 0:
		return megabytes(e.Done) + " MB"
	}
	percent := min(100, 100*float64(e.Done)/float64(e.Total))
	return fmt.Sprintf("%s/%s MB  %2.0f%%", megabytes(e.Done), megabytes(e.Total), percent)
}

func countsBytes(p event.Phase) bool {
	return slices.Contains([]event.Phase{event.Fetch, event.Pack, event.Write, event.Push, event.Verify}, p)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// cut shortens s to that many columns.
func cut(s string, columns int) string {
	n := 0
	for i, r := range s {
		if n += printable.Columns(string(r)); n > columns {
			s = s[:i]
			break
		}
	}
	return strings.TrimRight(s, " ")
}
