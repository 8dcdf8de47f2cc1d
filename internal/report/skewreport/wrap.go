package skewreport

import (
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
// too long stays whole, and so does code in backticks: somebody may want to
// copy it.
func wrap(s string, n int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range words(s) {
		w := columns(word)
		if line != "" && used+1+w > n {
			lines = append(lines, line)
			line, used = "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	return append(lines, line)
}

// words splits at spaces, but not inside backticks and around arrows.
func words(s string) []string {
	const glued = "\x00" // no cleaned string holds one
	var b strings.Builder
	for _, p := range spans(s) {
		if p.Code {
			b.WriteString("`" + strings.ReplaceAll(p.Text, " ", glued) + "`")
		} else {
			b.WriteString(strings.ReplaceAll(p.Text, " -> ", glued+"->"+glued))
		}
	}
	fields := strings.Fields(b.String())
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, glued, " ")
	}
	return fields
}
