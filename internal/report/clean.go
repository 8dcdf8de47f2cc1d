package report

import (
	"strings"

	"github.com/winbake/winbake/internal/printable"
)

// CleanLines makes text printable whose lines are meant to be lines.
func CleanLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = printable.Line(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    "))
	}
	return lines
}
