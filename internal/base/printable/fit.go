package printable

import "strings"

// breaks are what a line may end with in the middle of a word.
const breaks = "/-._:"

// least is what each column of Fit keeps, in columns of a terminal.
const least = 8

// Fit are the lines of a table, whose columns have two blanks between them, with its cells
// broken so that it is at most n columns wide: the widest column gives first, down to its
// longest word. A table whose columns can't give enough stays wider than n.
func Fit(rows [][]string, n int) (fitted []string) {
	var widths, words []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths, words = append(widths, 0), append(words, least)
			}
			widths[i] = max(widths[i], Columns(cell))
			for word := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(" "+breaks, r) }) {
				words[i] = max(words[i], Columns(word)+1)
			}
		}
	}
	total := -2
	for _, w := range widths {
		total += w + 2
	}
	for ; total > n; total-- {
		widest := -1
		for i, w := range widths {
			if w > words[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for _, row := range rows {
		cells, lines := make([][]string, len(row)), 1
		for i, cell := range row {
			cells[i] = broken(cell, widths[i])
			lines = max(lines, len(cells[i]))
		}
		for line := range lines {
			var text strings.Builder
			for i := range row {
				cell := ""
				if line < len(cells[i]) {
					cell = cells[i][line]
				}
				text.WriteString(cell + strings.Repeat(" ", widths[i]-Columns(cell)+2))
			}
			fitted = append(fitted, strings.TrimRight(text.String(), " "))
		}
	}
	return fitted
}

// broken is Wrap, and breaks a word that is too long behind its last one of breaks
// that fits. What has none stays whole.
func broken(s string, n int) (lines []string) {
	for _, line := range Wrap(s, n) {
		for Columns(line) > n {
			end := strings.LastIndexAny(line[:min(n, len(line))], breaks) + 1
			if end == 0 {
				break
			}
			lines, line = append(lines, line[:end]), line[end:]
		}
		lines = append(lines, line)
	}
	return lines
}
