package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// candidate is a version that the Linux side may have.
type candidate struct {
	Version   version.Driver
	Certainty catalog.Certainty
	// By says how it is known: user, commit, digest, range, default.
	By string
	At []inventory.Evidence
	// Head is the day of the commit that a branch's head had, "" where the version is
	// of a release.
	Head string
	// Commit is the full source commit that a payload names; "" for none.
	Commit string
}

// Linux is the Linux driver at one release: controller and node plugin,
// which are one image.
type Linux struct {
	// Candidates are all that may hold; one is certain, none is unknown.
	Candidates []candidate
	// Reason says why there is none.
	Reason string
	// Fixed: it doesn't move with OpenShift. The admin deployed it, or an
	// operator from OperatorHub does.
	Fixed bool
	// Driver is the Linux DaemonSet; nil where none was read.
	Driver *inventory.Driver
	// Rival is a Linux DaemonSet of the admin's own that may or may not run in
	// place of OpenShift's: Candidates has the versions of both.
	Rival *inventory.Driver
}

// Known tells whether there is any candidate.
func (l *Linux) Known() bool { return len(l.Candidates) > 0 }

// OfCommit tells whether the Linux side is of a Windows image's commit, by a payload.
func (l *Linux) OfCommit(commit string) bool {
	return commit != "" && len(l.Candidates) == 1 && l.Candidates[0].Commit == commit
}

// Certain is the one version; false where there are several or none.
func (l *Linux) Certain() (version.Driver, bool) {
	if len(l.Candidates) != 1 {
		return version.Driver{}, false
	}
	return l.Candidates[0].Version, true
}

// Newest is the newest candidate; the zero value where there is none.
func (l *Linux) Newest() version.Driver {
	if !l.Known() {
		return version.Driver{}
	}
	return slices.MaxFunc(l.Candidates, func(a, b candidate) int { return a.Version.Compare(b.Version) }).Version
}

// Certainty is the least that a candidate has; Default where there are
// several, "" where there is none.
func (l *Linux) Certainty() catalog.Certainty {
	switch len(l.Candidates) {
	case 0:
		return ""
	case 1:
		return l.Candidates[0].Certainty
	}
	return catalog.Default
}

// UnknownVersion is how a version that isn't known is shown.
const UnknownVersion = "unknown"

// String is "3.3.1", "1.28.1 or 1.29.5", or "unknown".
func (l *Linux) String() string {
	names := Map(l.Candidates, func(c candidate) string { return c.Version.String() })
	return cmp.Or(strings.Join(Unique(names), " or "), UnknownVersion)
}

// Evidence is where the candidates come from.
func (l *Linux) Evidence() []inventory.Evidence {
	return slices.Concat(Map(l.Candidates, func(c candidate) []inventory.Evidence { return c.At })...)
}

// Distance is the least and the greatest distance of a Windows version over all
// candidates, in minors; false where one has another major, or there is none.
func (l *Linux) Distance(windows version.Driver) (low, high int, ok bool) {
	if _, other := l.Holds(windows.OtherMajor); other || !l.Known() {
		return 0, 0, false
	}
	list := Map(l.Candidates, func(c candidate) int { return windows.Distance(c.Version) })
	return slices.Min(list), slices.Max(list), true
}

// Holds asks a question of every candidate: it tells whether the answer is yes
// for all, and whether it is yes for any. Where the two differ, the version
// decides and isn't known well enough.
func (l *Linux) Holds(question func(version.Driver) bool) (all, some bool) {
	yes := len(Select(l.Candidates, func(c candidate) bool { return question(c.Version) }))
	return yes > 0 && yes == len(l.Candidates), yes > 0
}
