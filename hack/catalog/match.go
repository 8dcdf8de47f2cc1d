package main

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
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

// basis is the upstream release that a commit of a fork stands on.
type basis struct {
	// version is the catalog's; "" unknown.
	version string
	// match is the comparison that decided it, made on the commit at.
	match match
	at    commit
	// hints are what the commit itself says, true or not.
	hints hints
	// nearer is a version whose code the tree is nearer to than to its own
	// basis, because fixes were backported; "" none.
	nearer string
}

// decide tells what a commit stands on, given what its first parent did.
// toParent is how many files around the code differ from the parent's version.
//
// A change of base moves the code and what surrounds it (go.mod, manifests,
// charts), or brings a tag into the ancestry. A backport moves code alone, and
// a few of them together can make a tree equal to a release that it was never
// rebased to (openshift/csi-driver-smb has the code of v1.19.0 on v1.18.0). So
// the code names the version, and the rest says whether it changed at all.
func decide(parent basis, m match, at commit, toParent int) basis {
	next := basis{version: m.version.String(), match: m, at: at, hints: m.hints}
	switch {
	case parent.version == "":
		// A fork's first tree may be one that upstream never released.
		if m.lines > 0 && !m.hints.name(m.version) {
			next.version = ""
		}
		return next
	case next.version == parent.version:
		return parent.stays(m.hints, "")
	case m.hints.name(m.version) && !parent.hints.name(m.version):
		return next
	case toParent <= m.around:
		return parent.stays(m.hints, next.version)
	case m.lines > 0 && !m.surrounded:
		// The code names one release, what surrounds it another.
		next.version = ""
	}
	return next
}

func (b basis) stays(h hints, nearer string) basis {
	b.hints, b.nearer = h, nearer
	return b
}

func (h hints) name(v version.Driver) bool {
	return !v.IsZero() && (h.merged == v.String() || h.text == v.String() || h.text == v.Core())
}

// outlived tells whether the ancestry names a later release than the code: what
// is left of a reverted rebase.
func (b basis) outlived() bool {
	if b.version == "" || b.match.hints.merged == "" {
		return false
	}
	return version.MustDriver(b.match.hints.merged).Compare(version.MustDriver(b.version)) > 0
}
