package main

import "github.com/winbake/winbake/internal/version"

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

// stays is b for a later commit.
func (b basis) stays(h hints, nearer string) basis {
	b.hints, b.nearer = h, nearer
	return b
}

// name tells whether the ancestry or the text names v.
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
