package skewreport

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns of a terminal s takes: two for a wide character,
// none for a combining mark.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	case width.Neutral, width.EastAsianAmbiguous, width.EastAsianNarrow, width.EastAsianHalfwidth:
	}
	return 1
}

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

// wrap breaks s between words into lines of at most n columns. A word that is
// too long stays whole, and so does an update, "4.19 -> 4.20".
func wrap(s string, n int) []string {
	const glued = "\x00" // no cleaned string holds one
	var lines []string
	line := ""
	for _, word := range strings.Fields(strings.ReplaceAll(s, " -> ", glued+"->"+glued)) {
		word = strings.ReplaceAll(word, glued, " ")
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) > n:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// cutTo is text in one line of so many columns.
func cutTo(text string, width int) string {
	text = oneLine(text)
	if columns(text) <= width {
		return text
	}
	const more = " ..."
	used := len(more)
	for i, r := range text {
		if used += runeColumns(r); used <= width {
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
	for r := []rune(text); columns(text) > width && len(r) > 3; r = r[1:] {
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
