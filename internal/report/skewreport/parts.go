package skewreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/skew"
)

// hopOf names the hop that a row or a step belongs to: "now" where there is
// none.
func (d *Document) hopOf(i int) string {
	if i < 0 || i >= len(d.Hops) {
		return "now"
	}
	return d.Hops[i].String()
}

// hopIndex is the place of a hop on the way; 0 for none.
func (d *Document) hopIndex(hop string) int {
	return max(0, slices.IndexFunc(d.Hops, func(h skew.Hop) bool { return h.String() == hop }))
}

func phaseOrder(phase string) int {
	return order(skew.Phase(phase), skew.Now, skew.Target)
}

func whenOrder(when string) int { return order(when, "before", "during", "after") }

// order is the place of v in a list; what isn't there comes last.
func order[T comparable](v T, list ...T) int {
	if i := slices.Index(list, v); i >= 0 {
		return i
	}
	return len(list)
}

// moment says in words at which moment of which update a finding holds.
func moment(hop, phase string) string {
	words := phase
	switch skew.Phase(phase) {
	case skew.Now:
		return "now, before anything is changed"
	case skew.Target:
		words = "Linux updated, Windows as it is now"
	}
	if hop == "" {
		return words
	}
	return strings.TrimSuffix("update "+hopWords(hop)+": "+words, ": ")
}

// hopWords is a hop in a sentence: "4.19 -> 4.20", or "to 4.20".
func hopWords(hop string) string {
	if to, ok := strings.CutPrefix(hop, "? -> "); ok {
		return "to " + to
	}
	return hop
}

// due says in words when a remedy or a step is due.
func due(when, hop string) string {
	if whenOrder(when) > 2 {
		return when
	}
	return strings.TrimSpace(when + " the update " + hopWords(hop))
}

// commitOr is the distance, or the word for none at all: the same commit on both
// sides. An upstream image of the same version lacks what the fork carries.
func commitOr(same bool, linux, windows string) string {
	if same {
		return "same commit"
	}
	return distance(linux, windows)
}

// distance says how many minors Windows is behind or ahead of Linux: in months
// between calendar versions, and in no number over a major. Either may be one of
// several versions, "1.32.0 or 1.32.3", and the distance is then a range.
func distance(linux, windows string) string {
	var far []int
	majors, unit := 0, ""
	for l := range strings.SplitSeq(linux, " or ") {
		for w := range strings.SplitSeq(windows, " or ") {
			l, errL := version.ParseDriver(l)
			w, errW := version.ParseDriver(w)
			if errL != nil || errW != nil {
				return "unknown"
			}
			if w.OtherMajor(l) {
				majors++
			}
			if w.Calendar(l) {
				unit = " mo."
			}
			far = append(far, w.Distance(l))
		}
	}
	if majors == len(far) {
		return "other major"
	} else if majors > 0 {
		return "unknown"
	}
	low, high := slices.Min(far), slices.Max(far)
	switch {
	case low == high:
		return apart(low, unit)
	case high <= 0:
		return fmt.Sprintf("%d-%s", -high, apart(low, unit))
	case low >= 0:
		return fmt.Sprintf("%d-%s", low, apart(high, unit))
	}
	return apart(low, unit) + " to " + apart(high, unit)
}

func apart(n int, unit string) string {
	switch {
	case n < 0:
		return fmt.Sprintf("%d%s behind", -n, unit)
	case n > 0:
		return fmt.Sprintf("%d%s ahead", n, unit)
	}
	return "same"
}

// change is "a -> b", or a where both are the same or b isn't there.
func change(a, b string) string {
	if b == "" || a == b {
		return a
	}
	return a + " -> " + b
}

// why is a finding's reason without what finding.Accept put before it: reports
// tell of that elsewhere.
func why(text, accepted string) string {
	if accepted == "" {
		return text
	}
	return strings.TrimPrefix(text, "accepted; it was "+accepted+". ")
}

// part is one named part of a finding. Copied is what is there to be copied.
type part struct {
	Name, Text string
	Copied     bool
}

// parts are the parts of f that aren't empty, in the order of reading; the ID
// and the severity are in its heading.
func parts(f finding.Finding) []part {
	when := ""
	if len(advice(f)) > 0 {
		when = due(f.When, f.Hop)
	}
	all := []part{
		{"object", f.Object, true},
		{"at", moment(f.Hop, f.Phase), false},
		{"observed", f.Observed, false},
		{"expected", f.Expected, false},
		{"why", why(f.Why, f.Accepted), false},
		{"when", when, false},
		{"remedy", plain(advice(f)), true},
		{"source", f.Source, true},
		{"evidence", strings.Join(f.Evidence, "\n"), true},
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.Text == "" })
}

func plain(all []paragraph) string {
	var lines []string
	for _, p := range all {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}

var groups = map[finding.Severity]string{
	finding.Block: "What blocks", finding.Unknown: "What couldn't be told", finding.Warn: "What to act on",
	finding.Info: "Good to know", finding.Pass: "What is healthy",
}

func groupOf(f finding.Finding) string {
	if f.Accepted != "" {
		return "Accepted by you"
	}
	return groups[f.Severity]
}

// advice is what a finding asks for: its remedy in words, then each action with
// its commands.
func advice(f finding.Finding) []paragraph {
	var all []paragraph
	if f.Remedy != "" {
		all = append(all, paragraph{false, printable.OneLine(f.Remedy)})
	}
	for _, a := range f.Actions {
		if !strings.Contains(f.Remedy, a.Summary) {
			all = append(all, paragraph{false, a.Summary})
		}
		if lines := a.Lines(); len(lines) > 0 {
			all = append(all, paragraph{true, strings.Join(lines, "\n")})
		}
	}
	return all
}

type paragraph struct {
	Command bool
	// Text of commands has a line for each; prose is one line.
	Text string
}
