package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/winbake/winbake/internal/catalog"
)

// report lists every change of base of every branch and the rows made of it,
// for the person who runs this to compare with the release notes.
func report(w io.Writer, f *found) {
	seen := map[string]bool{}
	for _, b := range f.branches {
		fmt.Fprintf(w, "%s %s\n", f.fork.driver, b.minor)
		for _, in := range intervals(b.steps) {
			// What an older branch had too is told there, but for the last.
			if seen[in.first.id] && in.last.id != b.steps[len(b.steps)-1].id {
				continue
			}
			seen[in.first.id] = true
			h := in.first.basis.hints
			fmt.Fprintf(w, "  %s %s on %-12s for %d commits by %s; text %s, ancestry %s, nearer %s (%s)\n",
				day(in.first.date), in.first.id[:digits], cmp.Or(in.first.basis.version, "unknown"), in.commits,
				in.first.basis.match.reason, cmp.Or(h.text, "-"), cmp.Or(h.merged, "-"), cmp.Or(in.last.basis.nearer, "-"), in.first.subject)
		}
		for _, row := range b.shipped {
			fmt.Fprintf(w, "  ships %s in %s, %s, edges off by %d; %s\n",
				cmp.Or(row.Version, "unknown"), patchRange(row), row.Certainty, row.FuzzyZ, cmp.Or(row.Note, "-"))
		}
	}
}

func patchRange(s catalog.Shipped) string {
	edge := func(z *int) string {
		if z == nil {
			return "*"
		}
		return strconv.Itoa(*z)
	}
	return edge(s.FromZ) + " to " + edge(s.UntilZ)
}
