package skewreport

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/printable"
)

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-printable.Columns(s))) }

// cutTo is text in one line of so many columns.
func cutTo(text string, width int) string {
	text = oneLine(text)
	if printable.Columns(text) <= width {
		return text
	}
	const more = " ..."
	used := len(more)
	for i, r := range text {
		if used += printable.Columns(string(r)); used <= width {
			continue
		}
		if space := strings.LastIndexByte(text[:i], ' '); space > i/2 {
			i = space // between words, where that leaves enough
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
