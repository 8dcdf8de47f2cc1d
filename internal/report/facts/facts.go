// Package facts writes down, for people, what the catalog knows and what an
// inventory read. It judges nothing: findings are package report's.
package facts

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/winbake/winbake/internal/catalog"
)

// table writes rows in columns; the first row is the head.
func table(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = clean(row[i])
		}
		if _, err := fmt.Fprintln(tw, strings.TrimRight(strings.Join(row, "\t"), "\t ")); err != nil {
			return err
		}
	}
	return tw.Flush()
}

// clean keeps what is in somebody's manifest from steering the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// sources lists where rows come from, each once.
func sources(w io.Writer, lists ...[]catalog.Evidence) error {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, e := range list {
			line := clean(e.Source)
			if e.Note != "" {
				line += ": " + clean(e.Note)
			}
			if seen[line] {
				continue
			}
			seen[line] = true
			if _, err := fmt.Fprintln(w, "  "+line); err != nil {
				return err
			}
		}
	}
	return nil
}
