package skewreport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// summary is the verdict in one sentence: may I, and if not, why not.
func summary(d *Document) string {
	var said string
	switch {
	case len(d.Drivers) == 0 && d.Verdict < finding.Unknown:
		said = "No Windows CSI driver was found in what was read, so there is no skew to judge"
	case d.To != "":
		said = before(d)
	default:
		said = after(d)
	}
	return said + provisos(d) + "."
}

// before answers whether the update may start.
func before(d *Document) string {
	update := "the update to OpenShift " + d.To
	if d.From != "" {
		update = "the update from " + d.From + " to " + d.To
	}
	if why := d.ControlPlaneOnly; why != "" {
		update = "the Control Plane Only " + strings.TrimPrefix(update, "the ")
		if why != "--eus" {
			update += " (" + why + "; --eus=false: one minor after the other)"
		}
	}
	switch d.Verdict {
	case finding.Block:
		return "Don't start " + update + " yet: " + blocks(d)
	case finding.Unknown:
		return "Unknown: whether " + update + " is safe; " + open(d)
	case finding.Warn:
		return capital(update) + " is safe as far as is known: " + warnings(d)
	case finding.Pass, finding.Info:
	}
	return capital(update) + " is safe as far as is known"
}

// warnings says how many there are, and whether they ask for an act before the
// update.
func warnings(d *Document) string {
	said := inventory.Many(d.Counts["WARN"], "warning") + " to act on"
	first := 0
	for _, f := range d.Findings {
		if f.Severity == finding.Warn && f.When != "after" {
			first++
		}
	}
	switch first {
	case 0:
		return said + " after it"
	case d.Counts["WARN"]:
		return said + " first"
	}
	return said + ", " + strconv.Itoa(first) + " of them first"
}

// after answers whether all is well.
func after(d *Document) string {
	cluster := "Windows storage on this cluster"
	if d.From != "" {
		cluster = "Windows storage on OpenShift " + d.From
	}
	switch d.Verdict {
	case finding.Block:
		return cluster + " isn't healthy: " + inventory.Many(d.Counts["BLOCK"], "finding") + " must be dealt with"
	case finding.Unknown:
		return "Unknown: whether " + cluster + " is healthy; " + open(d)
	case finding.Warn:
		return cluster + " is healthy as far as is known: " + inventory.Many(d.Counts["WARN"], "warning") + " to act on"
	case finding.Pass, finding.Info:
	}
	return cluster + " is healthy as far as is known"
}

// blocks says how many findings block, and where the first of them is.
// Findings are sorted already.
func blocks(d *Document) string {
	n, now, first := 0, 0, ""
	for _, f := range d.Findings {
		if f.Severity != finding.Block {
			continue
		}
		n++
		if skew.Phase(f.Phase) == skew.Now && d.hopIndex(f.Hop) == 0 {
			now++
		} else if first == "" {
			first = f.Hop
		}
	}
	said := inventory.Many(n, "finding") + " block it"
	if n == 1 {
		said = "1 finding blocks it"
	}
	switch {
	case now == n && n == 1:
		return said + ", and is there already"
	case now == n:
		return said + ", and all are there already"
	case now > 0:
		return said + ", " + strconv.Itoa(now) + " of them there already"
	case first != "" && len(d.Hops) > 1 && n == 1:
		return said + ", at " + first
	case first != "" && len(d.Hops) > 1:
		return said + ", the first at " + first
	}
	return said
}

func open(d *Document) string {
	if d.Counts["UNKNOWN"] == 1 {
		return "1 question is open"
	}
	return inventory.Many(d.Counts["UNKNOWN"], "question") + " are open"
}

// provisos are what a reader of the verdict alone must know.
func provisos(d *Document) string {
	var said []string
	accepted := slices.DeleteFunc(slices.Clone(d.Findings), func(f finding.Finding) bool { return f.Accepted == "" })
	if len(accepted) > 0 {
		said = append(said, inventory.Many(len(accepted), "finding")+" accepted by you")
	}
	if n := len(d.NotEvaluated); n > 0 {
		said = append(said, inventory.Many(n, "rule")+" not evaluated")
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// readLines says what was read, how much of it, and how old the catalog is.
func (d *Document) readLines() []string {
	var lines []string
	for _, s := range d.Sources {
		lines = append(lines, strings.TrimSuffix(strings.TrimSpace(s.Kind+" "+s.Name)+": "+s.Detail, ": "))
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
	return append(lines, d.catalogLine()+d.renew())
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

// renew is how to have a newer catalog than one that is old; "" for another.
func (d *Document) renew() string {
	if age := d.Catalog.AgeDays; age == nil || *age <= renewAfter {
		return ""
	}
	return "; a newer one: go install github.com/winbake/winbake/cmd/verify@latest"
}

func problem(p inventory.Problem) string {
	return strings.Trim(p.Where+": "+p.What, ": ")
}
