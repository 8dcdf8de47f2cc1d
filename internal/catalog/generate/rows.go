package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/catalog"
)

// shippedIn turns a branch's history and its minor's patches into the catalog's
// rows. Without patches (a minor that isn't released, or a driver that an
// operator ships) the head of the branch is all there is to say.
func shippedIn(f fork, minor string, steps []step, patches []patch) []catalog.Shipped {
	if len(steps) == 0 {
		return []catalog.Shipped{{
			Certainty: catalog.Default,
			Note:      "the fork has no branch for it",
			Evidence:  []catalog.Evidence{{Source: "https://github.com/" + f.fork + "/branches"}},
		}}
	}
	if len(patches) == 0 || f.olm {
		return []catalog.Shipped{headRow(f, minor, steps)}
	}
	spans := group(f, steps, patches)
	rows := make([]catalog.Shipped, len(spans))
	for i, sp := range spans {
		row := sp.row(f, minor)
		if i > 0 {
			row.FromZ = &spans[i].from
			row.FuzzyZ = spans[i-1].fuzzyUntil(patches, sp)
		}
		if i+1 < len(spans) {
			row.UntilZ = &spans[i].until
			row.FuzzyZ = max(row.FuzzyZ, sp.fuzzyUntil(patches, spans[i+1]))
		}
		if len(spans) > 1 {
			row.Certainty = catalog.Range
		}
		rows[i] = row
	}
	return rows
}

// span is a run of patches with one version.
type span struct {
	interval
	from, until int
	pinned      bool // the first patch names the commit itself
}

// group finds the commit of every patch and joins runs of one interval.
// Intervals between two patches never shipped and vanish, such as the rebase
// of EBS to v1.55.0, which was reverted on the same day.
func group(f fork, steps []step, patches []patch) []span {
	all := intervals(steps)
	var out []span
	for _, p := range patches {
		i, pinned := find(f, steps, p)
		in := all[0]
		for _, candidate := range all {
			if candidate.start <= i {
				in = candidate
			}
		}
		if n := len(out); n > 0 && out[n-1].first.basis.version == in.first.basis.version {
			out[n-1].until = p.z
			continue
		}
		out = append(out, span{in, p.z, p.z, pinned})
	}
	return out
}

// find is the index of the commit that a patch was built from: the one it
// names, or else the newest before its build.
func find(f fork, steps []step, p patch) (index int, pinned bool) {
	if pin := p.pins[f.build]; pin != "" {
		if i := slices.IndexFunc(steps, func(s step) bool { return strings.HasPrefix(s.id, pin) }); i >= 0 {
			return i, true
		}
	}
	for i := range steps {
		if has, _ := p.has(steps[i].date); has {
			index = i
		}
	}
	return index, false
}

// fuzzyUntil is by how many patches the edge between a and the next span may
// be off: the number of patches of which the dates don't tell.
func (a span) fuzzyUntil(patches []patch, next span) int {
	n := 0
	for _, p := range patches {
		_, sure := p.has(next.first.date)
		if !sure && !(p.z == next.from && next.pinned) {
			n++
		}
	}
	return n
}

// row is the span without edges.
func (a span) row(f fork, minor string) catalog.Shipped {
	return catalog.Shipped{
		Version:   a.first.basis.version,
		Certainty: catalog.Exact,
		Note:      note(a.interval, ""),
		Evidence:  evidence(f, "release-"+minor, a.first.basis),
	}
}

func headRow(f fork, minor string, steps []step) catalog.Shipped {
	all := intervals(steps)
	last := all[len(all)-1]
	why := "not released yet; head of the branch on " + day(last.last.date)
	if f.olm {
		why = "an operator ships it and moves its version on its own; head of the branch on " + day(last.last.date)
	}
	return catalog.Shipped{
		Version:   last.first.basis.version,
		Certainty: catalog.Default,
		Note:      note(last, why),
		Evidence:  evidence(f, "release-"+minor, last.first.basis),
	}
}

// note says what a reader has to know to believe a row.
func note(in interval, why string) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if why != "" {
		add("%s", why)
	}
	b := in.last.basis
	if b.version == "" {
		add("the tree is between two releases")
	}
	if in.reverts {
		add("a later rebase was reverted; the ancestry still says %s", b.match.hints.merged)
	}
	if b.nearer != "" {
		add("fixes were backported: at the head of the branch the Go code is nearer to %s", b.nearer)
	}
	return strings.Join(parts, "; ")
}

// evidence is the merge that made the basis and the distances that tell it.
func evidence(f fork, branch string, b basis) []catalog.Evidence {
	m := b.match
	text := []string{fmt.Sprintf("%s, merged %s: %s", branch, day(b.at.date), distance(m.candidate))}
	if m.second.tag != "" {
		text = append(text, "next is "+distance(m.second))
	}
	same := filter(m.alike, func(c candidate) bool { return c.around == m.around })
	more := filter(m.alike, func(c candidate) bool { return c.around != m.around })
	if len(same) > 0 {
		text = append(text, tags(same)+" can't be told from it")
	}
	if len(more) > 0 {
		text = append(text, fmt.Sprintf("%s has the same code, but %d other files differ and not %d", more[0].tag, more[0].around, m.around))
	}
	if m.hints.text != "" && m.hints.text != b.version {
		text = append(text, f.text.path+" says "+m.hints.text)
	}
	return []catalog.Evidence{{
		Source: "https://github.com/" + f.fork + "/commit/" + b.at.id,
		Note:   strings.Join(text, "; "),
	}}
}

func distance(c candidate) string {
	if c.files == 0 {
		return "the Go code is that of " + c.tag
	}
	return fmt.Sprintf("%s, %s and %s of Go away", cmp.Or(c.tag, "the nearest release"), count(c.files, "file"), count(c.lines, "line"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func tags(cs []candidate) string {
	var names []string
	for _, c := range cs {
		names = append(names, c.tag)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func day(t time.Time) string { return t.Format("2006-01-02") }
