package skew

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// minorDistance is SKEW001.
func minorDistance(v *view, out *sink) {
	windows, known := v.Windows()
	l := v.Linux()
	if !known || !l.Known() || v.Phase != Now && v.Moves() || v.leaves() {
		return
	}
	low, high, ok := spread(l, windows)
	if !ok {
		return // another major: SKEW002
	}
	d := draft{
		Severity: finding.Pass,
		Observed: fmt.Sprintf("Linux %s%s, Windows %s: %s", l, v.where(), windows, apart(low, high, unit(l, windows))),
		Expected: closest[unit(l, windows)],
		Why:      "the two sides share a minor, as OpenShift advises",
		Evidence: slices.Concat(v.evidence(), l.evidence()),
	}
	if low != 0 || high != 0 {
		to := v.fit(v.D, v.aim().Newest())
		d.Severity, d.NoStep = finding.Warn, v.Hops > 0
		d.Why = "OpenShift expects some skew and asks to keep it small; nobody tests this pair, and the drivers' projects promise nothing for it"
		if v.fallsBehind(windows) {
			d.Severity, d.PlanInfo = finding.Info, true
			d.Why = "it fits what the cluster has now; the update moves the Linux side, and Windows follows after it"
		}
		if v.Hop > 0 && v.standsStill() {
			d.Severity = finding.Info // an earlier hop said it
		}
		d.When = after
		switch {
		case v.rivalled():
			d.Remedy, d.NoStep = settleFirst, true
		case v.misplaced():
			d.Remedy, d.NoStep = "do what HP001 asks for first: it chooses the version too", true
		case v.mustLeaveContainer():
			d.Remedy, d.NoStep = "do what NODE003 asks for first, and check again: a HostProcess container has images of its own", true
		case low > 0 && v.imageless():
			d.Remedy, d.NoStep = "do what NODE003 asks for first: it chooses the version too", true
		case v.ends(func(c version.Driver) bool { return c.OtherMajor(windows) || windows.Distance(c) != 0 }):
			d.Severity, d.Remedy, d.NoStep = finding.Info, v.endedBy(), true
		case v.crossing() == catalog.HostProcessMandatory:
			d.Remedy, d.NoStep = "do what HP005 asks for: it takes the driver to v"+to.Core(), true
		case low > 0: // going back is no step of a plan
			d.Severity, d.NoStep = finding.Info, true
			d.Remedy = "nothing has to be done: leave it, and choose v" + to.Core() + " at its next change"
			if gone := v.gone(to); gone != "" {
				d.Remedy = "nothing has to be done: leave it; the image of v" + to.Core() + " " + gone
			}
			switch {
			case to.Compare(windows) < 0:
			case v.aim() == &v.LinuxTarget && windows.Distance(v.aim().Newest()) == 0:
				d.Remedy = fmt.Sprintf("nothing has to be done: leave it, the operator for OpenShift %s brings %s", v.To, &v.LinuxTarget)
			default:
				d.Remedy = "nothing has to be done: no version that is closer to the Linux one runs on these nodes"
			}
		default:
			d.Do = v.changeAfter(to)
		}
		if v.guessed() && low < 0 {
			d.Why = "the Linux side is an operator's from OperatorHub, which moves on its own: this is what it had for the release when the catalog was made. " + d.Why
			d.Do = append([]action.Action{action.ByHand{Text: "see which version the operator runs", Look: [][]string{{"oc", "get", "csv", "--all-namespaces"}}}}, d.Do...)
		}
	}
	out.add(d)
}

// fallsBehind tells whether it is this update that takes the Linux side away
// from a Windows driver that has its minor until then: OpenShift expects that.
// A driver that was behind before the update is left behind a second time.
func (v *view) fallsBehind(windows version.Driver) bool {
	if v.Phase != Target || v.Planned || v.rivalled() {
		return false
	}
	low, high, ok := spread(&v.LinuxNow, windows)
	return ok && v.LinuxNow.Known() && low <= 0 && high >= 0
}

// standsStill tells whether a hop leaves the Linux side at its version.
func (v *view) standsStill() bool {
	now, target := v.LinuxNow.Newest(), v.LinuxTarget.Newest()
	return v.LinuxNow.Known() && v.LinuxTarget.Known() && now.SameMinor(target)
}

// gone says that the image of a version can't be had any more; "" for one that
// can.
func (v *view) gone(to version.Driver) string {
	if v.Catalog == nil {
		return ""
	}
	return goneImage(v.Catalog, v.D.HostProcess, to)
}

// guessed: the Linux side is an operator's from OperatorHub and was taken from
// the catalog, because its DaemonSet wasn't read.
func (v *view) guessed() bool {
	l := v.Linux()
	return v.Catalog != nil && v.Catalog.OLM && len(l.Candidates) > 0 && (l.Candidates[0].By == "default" || l.Candidates[0].By == "range")
}

// where says whose the Linux version is.
func (v *view) where() string {
	switch {
	case v.Linux().Fixed && v.Linux().Driver != nil:
		return " (not part of OpenShift's release)"
	case v.Release().IsZero():
		return ""
	}
	return " (OpenShift " + v.Release().String() + ")"
}

// spread are the least and the greatest distance over all candidates; false
// where one has another major.
func spread(l *linuxSide, windows version.Driver) (low, high int, ok bool) {
	for i, c := range l.Candidates {
		if c.Version.OtherMajor(windows) {
			return 0, 0, false
		}
		d := windows.Distance(c.Version)
		if i == 0 {
			low, high = d, d
		}
		low, high = min(low, d), max(high, d)
	}
	return low, high, len(l.Candidates) > 0
}

// closest is what SKEW001 expects, by the unit of the distance.
var closest = map[string]string{"minor": "the minor of the Linux driver", "month": "the year and month of the Linux driver"}

// unit is what distances are counted in.
func unit(l *linuxSide, windows version.Driver) string {
	if _, some := l.judge(windows.Calendar); some {
		return "month"
	}
	return "minor"
}

// apart says a distance in words.
func apart(low, high int, unit string) string {
	switch {
	case low == high:
		return apartOne(low, unit)
	case high < 0:
		return fmt.Sprintf("%d or %s behind", -high, many(-low, unit))
	case low > 0:
		return fmt.Sprintf("%d or %s ahead", low, many(high, unit))
	}
	return apartOne(low, unit) + ", or " + apartOne(high, unit)
}

func apartOne(d int, unit string) string {
	switch {
	case d == 0:
		return "the same " + unit
	case d < 0:
		return many(-d, unit) + " behind"
	}
	return many(d, unit) + " ahead"
}

// aim is the Linux side that the driver is to follow when the update is done.
func (v *view) aim() *linuxSide {
	if v.Hops > 0 && v.LinuxTarget.Known() {
		return &v.LinuxTarget
	}
	return v.Linux()
}

// rivalled tells whether DATA001 asks which of two Linux drivers runs: what
// follows the one may do harm beside the other.
func (v *view) rivalled() bool { return v.Linux().Rival != nil || v.LinuxTarget.Rival != nil }

const settleFirst = "do what DATA001 asks for first: it tells which Linux driver to follow"

// ends tells whether the update takes the Linux side to where a gap of now isn't
// any more. What an operator from OperatorHub brings moves at another time.
func (v *view) ends(gap func(version.Driver) bool) bool {
	_, some := v.LinuxTarget.judge(gap)
	return v.Phase == Now && v.Hops > 0 && v.LinuxTarget.Known() && !some && !v.LinuxTarget.Fixed
}

func (v *view) endedBy() string {
	return fmt.Sprintf("nothing has to be done: the update to %s takes Linux to %s, and that ends it", v.To, &v.LinuxTarget)
}

// majorDiffers is SKEW002.
func majorDiffers(v *view, out *sink) {
	windows, known := v.Windows()
	l := v.Linux()
	if !known || v.Phase != Now && v.Moves() {
		return
	}
	differs := func(c version.Driver) bool { return c.OtherMajor(windows) }
	if _, some := l.judge(differs); !some {
		return
	}
	d := draft{
		Severity: finding.Warn,
		Observed: fmt.Sprintf("Linux %s%s, Windows %s", l, v.where(), windows),
		Expected: "the major of the Linux driver",
		Why:      "another major may have changed what controller and node plugin share",
		Evidence: slices.Concat(v.evidence(), l.evidence()),
	}
	d.When, d.NoStep = after, v.Hops > 0
	switch {
	case v.rivalled():
		d.Remedy, d.NoStep = settleFirst, true
	case v.ends(differs):
		d.Severity, d.Remedy = finding.Info, v.endedBy()
	default:
		d.Do = v.change(v.aim().Newest())
	}
	if p := v.incompatible(differs); p != nil {
		d.Severity, d.Why, d.Source, d.When = p.severity, p.Why, p.source(), p.When
		d.Remedy, d.Do = p.Remedy, v.change(l.Newest())
		d.Evidence = append(d.Evidence, inventory.Evidence{Where: "catalog, incompatible", Text: p.ID})
	}
	out.add(d)
}
