package skewreport

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
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
	switch d.Verdict {
	case finding.Block:
		return "Don't start " + update + " yet: " + blocks(d)
	case finding.Unknown:
		return "Nobody can tell yet whether " + update + " is safe: " + open(d)
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
		return cluster + " isn't well: " + inventory.Many(d.Counts["BLOCK"], "finding") + " must be dealt with"
	case finding.Unknown:
		return "Nobody can tell yet whether " + cluster + " is well: " + open(d)
	case finding.Warn:
		return cluster + " is well as far as is known: " + inventory.Many(d.Counts["WARN"], "warning") + " to act on"
	case finding.Pass, finding.Info:
	}
	return cluster + " is well as far as is known"
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
	accepted := 0
	for _, f := range d.Findings {
		if f.Accepted != "" {
			accepted++
		}
	}
	if accepted > 0 {
		said = append(said, inventory.Many(accepted, "finding")+" accepted by you")
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
