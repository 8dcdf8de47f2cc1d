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
	return append(lines, d.catalogLine()+d.renew("; a newer one: "))
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
		said += " (in part: " + inventory.Many(n, "kind") + " of objects)"
	} else if n > 0 {
		said += " (in part: " + strings.Join(partial, ", ") + ")"
	}
	if n := len(d.Problems); n > 0 {
		said += "; " + inventory.Many(n, "input") + " couldn't be read"
	}
	if age := d.Catalog.AgeDays; age != nil && *age >= 0 {
		return said + ". Facts: " + inventory.Many(*age, "day") + " old."
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
		line += ", " + inventory.Many(*age, "day") + " old"
	}
	return line + ": what was released since then isn't in it"
}

// renewAfter is how many days a catalog is good for without a word: OpenShift has
// patch releases each week, and rebases a driver in one every few months.
const renewAfter = 45

// renew is a command behind some words, for a catalog that is old; "" for another.
func (d *Document) renew(words string) string {
	if age := d.Catalog.AgeDays; age == nil || *age <= renewAfter {
		return ""
	}
	return words + "verify catalog update"
}

func problem(p inventory.Problem) string {
	return strings.Trim(p.Where+": "+p.What, ": ")
}
