package main

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/version"
)

// candidate is an upstream tag and how far a fork's tree is from it.
type candidate struct {
	tag     string
	version version.Driver
	// tree is the id of the tag's whole tree; one tree can have several tags.
	tree string
	// files and lines differ in the program's code.
	files, lines int
	// around is how many files differ outside of it, vendor left out.
	around int
	// merged: the fork's commit descends from the tag.
	merged bool
}

// hints are what a tree and its history say of its version. They only settle
// what the code leaves open.
type hints struct {
	// text is what the makefile or manifest says, without a v; "" nothing.
	text string
	// merged is the highest merged tag; it outlives a reverted merge.
	merged string
}

type match struct {
	candidate // the nearest; its version is zero where nothing decides
	// second is the nearest one with other code.
	second candidate
	// alike are the other tags with equally near code.
	alike []candidate
	// surrounded: of all candidates, none has nearer surroundings.
	surrounded bool
	hints      hints
}

// choose picks the tag that a tree was made from. All candidates are measured;
// neither a makefile nor ancestry keeps one out or brings one in.
func choose(all []candidate, h hints) match {
	if len(all) == 0 {
		return match{hints: h}
	}
	all = slices.SortedFunc(slices.Values(all), nearer)
	m := match{hints: h}
	near := slices.IndexFunc(all, func(c candidate) bool { return c.lines != all[0].lines || c.files != all[0].files })
	if near < 0 {
		near = len(all)
	} else {
		m.second = all[near]
	}
	m.candidate = settle(all[:near], h)
	m.alike = filter(all[:near], func(c candidate) bool { return c.tag != m.tag })
	m.surrounded = !slices.ContainsFunc(all, func(c candidate) bool { return c.around < m.around })
	return m
}

func nearer(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.lines, b.lines), cmp.Compare(a.files, b.files),
		cmp.Compare(a.around, b.around), a.version.Compare(b.version), cmp.Compare(a.tag, b.tag))
}

// settle decides between tags whose code is equally near: by other files, then by
// what was merged, then by the text. Of names for one core or one tree the highest
// is used. Otherwise nothing decides, and the version is zero.
func settle(tied []candidate, h hints) candidate {
	least := slices.MinFunc(tied, func(a, b candidate) int { return cmp.Compare(a.around, b.around) }).around
	keep := filter(tied, func(c candidate) bool { return c.around == least })
	if len(keep) == 1 {
		return keep[0]
	}
	if merged := filter(keep, func(c candidate) bool { return c.merged }); len(merged) > 0 {
		if keep = merged; len(keep) == 1 {
			return keep[0]
		}
	}
	if named := filter(keep, func(c candidate) bool { return c.version.String() == h.text }); len(named) == 1 {
		return named[0]
	}
	first := keep[0]
	other := func(c candidate) bool { return c.tree != first.tree && c.version.Core() != first.version.Core() }
	if slices.ContainsFunc(keep, other) {
		return candidate{files: first.files, lines: first.lines, around: first.around}
	}
	return slices.MaxFunc(keep, func(a, b candidate) int { return a.version.Compare(b.version) })
}

func filter(cs []candidate, ok func(candidate) bool) []candidate {
	var out []candidate
	for _, c := range cs {
		if ok(c) {
			out = append(out, c)
		}
	}
	return out
}
