package skewreport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

// readLines says what was read, how much of it, and how old the catalog is.
func (d *Document) readLines() []string {
	var lines []string
	for _, s := range d.Sources {
		line := strings.TrimSpace(s.Kind + " " + s.Name)
		if s.Detail != "" {
			line += ": " + s.Detail
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing")
	}
	complete, partial := d.coverage()
	if len(complete) > 0 {
		lines = append(lines, "read whole: "+strings.Join(complete, ", "))
	}
	if len(partial) > 0 {
		lines = append(lines, "read in part or not at all: "+strings.Join(partial, ", "))
	}
	return append(lines, d.catalogLine())
}

// coverage names the resources that were read whole, and those that weren't.
func (d *Document) coverage() (complete, partial []string) {
	for _, resource := range slices.Sorted(maps.Keys(d.Coverage)) {
		c := d.Coverage[resource]
		said := fmt.Sprintf("%s (%d)", resource, c.Count)
		if c.Complete && c.Doubt == "" {
			complete = append(complete, said)
			continue
		}
		if why := cmp.Or(c.Reason, c.Doubt); why != "" {
			said = fmt.Sprintf("%s (%d: %s)", resource, c.Count, why)
		}
		partial = append(partial, said)
	}
	return complete, partial
}

func (d *Document) catalogLine() string {
	line := "the catalog of " + cmp.Or(d.Catalog.AsOf, "an unknown day")
	if age := d.Catalog.AgeDays; age != nil && *age >= 0 {
		line += ", " + count(*age, "day") + " old"
	}
	return line + ": what was released since then isn't in it"
}

func problem(p inventory.Problem) string {
	return strings.Trim(p.Where+": "+p.What, ": ")
}
