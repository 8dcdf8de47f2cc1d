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
	complete, partial := d.coverage(counted)
	if len(complete) > 0 {
		lines = append(lines, "read whole: "+strings.Join(complete, ", "))
	}
	if len(partial) > 0 {
		lines = append(lines, "read in part or not at all: "+strings.Join(partial, ", "))
	}
	return append(lines, d.catalogLine())
}

// fewKinds is how many kinds of objects one line has room for.
const fewKinds = 3

// readLine is readLines in few words.
func (d *Document) readLine() string {
	var from []string
	for _, s := range d.Sources {
		from = append(from, strings.TrimSpace(s.Kind+" "+s.Name))
	}
	said := cmp.Or(strings.Join(from, ", "), "nothing")
	_, partial := d.coverage(func(resource string, _ inventory.Coverage) string { return resource })
	if n := len(partial); n > fewKinds {
		said += " (in part: " + count(n, "kind") + " of objects)"
	} else if n > 0 {
		said += " (in part: " + strings.Join(partial, ", ") + ")"
	}
	if n := len(d.Problems); n > 0 {
		said += "; " + count(n, "input") + " couldn't be read"
	}
	if age := d.Catalog.AgeDays; age != nil && *age >= 0 {
		return said + ". Facts: " + count(*age, "day") + " old."
	}
	return said + ". Facts: of " + cmp.Or(d.Catalog.AsOf, "an unknown day") + "."
}

// coverage names the resources that were read whole, and those that weren't.
func (d *Document) coverage(name func(resource string, c inventory.Coverage) string) (complete, partial []string) {
	for _, resource := range slices.Sorted(maps.Keys(d.Coverage)) {
		c := d.Coverage[resource]
		if c.Complete && c.Doubt == "" {
			complete = append(complete, name(resource, c))
		} else {
			partial = append(partial, name(resource, c))
		}
	}
	return complete, partial
}

// counted is a resource with how many were read, and why not all.
func counted(resource string, c inventory.Coverage) string {
	if why := cmp.Or(c.Reason, c.Doubt); why != "" {
		return fmt.Sprintf("%s (%d: %s)", resource, c.Count, why)
	}
	return fmt.Sprintf("%s (%d)", resource, c.Count)
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
