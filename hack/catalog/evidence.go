package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

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
		text = append(text, f.Version.File+" says "+m.hints.text)
	}
	return []catalog.Evidence{{
		Source: "https://github.com/" + f.Fork + "/commit/" + b.at.id,
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

// edge is how it is known with which patch a version came.
func edge(f fork, minor string, before patch, sp span) catalog.Evidence {
	e := catalog.Evidence{
		Source: "https://github.com/openshift-eng/ocp-build-data/blob/openshift-" + minor + "/releases.yml",
		Note:   before.when(minor) + "; " + sp.first.when(minor),
	}
	if sp.first.nightly == "" {
		e.Source = "https://github.com/openshift/cincinnati-graph-data/commits/master/channels/candidate-" + minor + ".yaml"
	}
	if sp.pinned {
		e.Note += " and names the commit " + sp.first.pins[f.Build]
	}
	return e
}
