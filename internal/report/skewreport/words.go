package skewreport

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/skew"
	"github.com/winbake/winbake/internal/version"
)

func hopName(h skew.Hop) string { return h.From + " -> " + h.To }

// hopOf names the hop that a row or a step belongs to: "now" where there is
// none.
func (d *Document) hopOf(i int) string {
	if i < 0 || i >= len(d.Hops) {
		return "now"
	}
	return hopName(d.Hops[i])
}

func phaseOrder(phase string) int {
	switch skew.Phase(phase) {
	case skew.Now:
		return 0
	case skew.Target:
		return 1
	case skew.Planned:
		return 2
	}
	return 3
}

func whenOrder(when string) int {
	switch when {
	case "before":
		return 0
	case "during":
		return 1
	case "after":
		return 2
	}
	return 3
}

// moment says in words at which moment of which update a finding holds.
func moment(hop, phase string) string {
	var words string
	switch skew.Phase(phase) {
	case skew.Now:
		return "now, before anything is changed"
	case skew.Target:
		words = "Linux updated, Windows as it is now"
	case skew.Planned:
		words = "Linux updated, Windows as planned"
	default:
		words = phase
	}
	switch {
	case hop == "":
		return words
	case words == "":
		return "update " + hop
	}
	return "update " + hop + ": " + words
}

// due says in words when a remedy or a step is due.
func due(when, hop string) string {
	if whenOrder(when) > 2 {
		return when
	}
	if hop == "" {
		return when + " the update"
	}
	return when + " the update " + hop
}

// distance says how many minors Windows stands behind or ahead of Linux.
func distance(n *int, linux, windows string) string {
	switch {
	case n == nil && otherMajor(linux, windows):
		return "other major"
	case n == nil:
		return "unknown"
	case *n < 0:
		return fmt.Sprintf("%d behind", -*n)
	case *n > 0:
		return fmt.Sprintf("%d ahead", *n)
	}
	return "same"
}

// otherMajor tells why there is no distance: versions that are both known, of
// different majors.
func otherMajor(a, b string) bool {
	v, errA := version.ParseDriver(a)
	w, errB := version.ParseDriver(b)
	return errA == nil && errB == nil && v.Major != w.Major
}

// change is "a -> b", or a where both are the same or b isn't there.
func change(a, b string) string {
	if b == "" || a == b {
		return a
	}
	return a + " -> " + b
}

// count is "1 warning", "2 warnings".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// why is a finding's reason without what finding.Accept put before it: reports
// tell of that elsewhere.
func why(text, accepted string) string {
	if accepted == "" {
		return text
	}
	return strings.TrimPrefix(text, "accepted; it was "+accepted+". ")
}
