package versions

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/hostprocess"
	"github.com/winbake/winbake/internal/skew/rules/node"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var skew001 = rules.Rule{ID: "SKEW001", Needs: rules.NeedsDrivers, Driver: minorDistance}

func minorDistance(v *snapshot.View, report rules.Report) {
	windows, known := v.Windows()
	l := v.Linux()
	if !known || !l.Known() || v.At.Phase != snapshot.Now && v.FollowsLinux() || v.OperatorTakesOver() {
		return
	}
	low, high, ok := l.Distance(windows)
	if !ok {
		return // another major: SKEW002
	}
	d := rules.Finding{
		Severity: finding.Pass,
		Observed: fmt.Sprintf("Linux %s%s, Windows %s: %s", l, v.WhoseLinux(), windows, apart(low, high, unit(l, windows))),
		Expected: closest[unit(l, windows)],
		Why:      "the two sides share a minor, as OpenShift advises",
		Evidence: slices.Concat(v.Evidence(), l.Evidence()),
	}
	if picks := v.Picks(l); len(picks) > 0 && v.DaemonSet.Version.Commit == "" && windows.Core() == l.Newest().Core() {
		d.Observed += fmt.Sprintf(", without %s of upstream's that OpenShift's branch has", inventory.Many(len(picks), "later commit"))
		for _, pick := range picks {
			d.Evidence = append(d.Evidence, inventory.Evidence{Where: "OpenShift's branch", Text: pick})
		}
	}
	if v.SameCommit(l) {
		d.Observed += ", built from one commit, " + v.DaemonSet.Version.Commit[:12]
		d.Why = "the two sides are one program's source: no closer pair exists"
	}
	if low > 0 {
		d.Same = "ahead"
	}
	if low != 0 || high != 0 {
		to := remedy.FitVersion(v, v.DaemonSet, followed(v).Newest())
		d.Severity, d.NoStep = finding.Warn, v.At.Hops > 0
		d.Why = "nobody tests this pair, and the drivers' projects promise nothing for it"
		if v.At.Inventory.Cluster.Other == "" {
			d.Why = "OpenShift expects some skew and asks to keep it small; " + d.Why
		}
		if FallsBehind(v, windows) {
			d.Severity, d.PlanInfo = finding.Info, true
			d.Why = "it fits what the cluster has now; the update moves the Linux side, and Windows follows after it"
		}
		if now, then := &v.LinuxNow, &v.LinuxTarget; v.At.Hop > 0 && now.Known() && then.Known() && now.Newest().SameMinor(then.Newest()) {
			d.Severity = finding.Info // an earlier hop said it
		}
		d.When = rules.After
		switch {
		case v.HasRival():
			d.Remedy, d.NoStep = rules.SettleFirst, true
		case hostprocess.NeedsHostProcess(v):
			d.Remedy, d.NoStep = "do what HP001 asks for first: it chooses the version too", true
		case node.OnlyHostProcess(v):
			d.Remedy, d.NoStep = "do what NODE003 asks for first, and check again: a HostProcess container has images of its own", true
		case low > 0 && node.LacksImage(v):
			d.Remedy, d.NoStep = "do what NODE003 asks for first: it chooses the version too", true
		case ends(v, func(c version.Driver) bool { return c.OtherMajor(windows) || windows.Distance(c) != 0 }):
			d.Severity, d.Remedy, d.NoStep = finding.Info, endedBy(v), true
		case hostprocess.Ahead(v) == catalog.HostProcessMandatory:
			d.Remedy, d.NoStep = "do what HP005 asks for: it takes the driver to v"+to.Core(), true
		case low >= 0: // going back is no step of a plan
			d.Severity, d.NoStep = finding.Info, true
			d.Remedy = "nothing has to be done: leave it, and choose v" + to.Core() + " at its next change"
			if gone := remedy.GoneImage(v.Catalog, v.DaemonSet.HostProcess, to); gone != "" {
				d.Remedy = "nothing has to be done: leave it; the image of v" + to.Core() + " " + gone + remedy.OwnImage(v)
			}
			switch {
			case to.Compare(windows) < 0:
			case followed(v) == &v.LinuxTarget && windows.Distance(followed(v).Newest()) == 0:
				d.Remedy = fmt.Sprintf("nothing has to be done: leave it, the operator for OpenShift %s brings %s", v.At.To, &v.LinuxTarget)
			default:
				d.Remedy = "nothing has to be done: no version that is closer to the Linux one runs on these nodes"
			}
		default:
			d.Do = remedy.Change(v, to)
		}
		if guessed(v) && low < 0 {
			d.Why = "the Linux side is an operator's from OperatorHub, which moves on its own: this is what its source had" + On(l) + "; " + d.Why
			d.Do = append(seeOperator(""), d.Do...)
		}
	}
	report(d)
}

// FallsBehind tells whether it is this update that takes the Linux side away
// from a Windows driver that has its minor until then, or past one that is ahead:
// OpenShift expects that. A driver that was behind before the update is left behind
// a second time.
func FallsBehind(v *snapshot.View, windows version.Driver) bool {
	if v.At.Phase != snapshot.Target || v.HasRival() {
		return false
	}
	low, high, ok := v.LinuxNow.Distance(windows)
	then, _, known := v.LinuxTarget.Distance(windows)
	return ok && high >= 0 && (low <= 0 || known && then < 0)
}

// guessed: the Linux side is an operator's from OperatorHub and was taken from
// the catalog, because its DaemonSet wasn't read.
func guessed(v *snapshot.View) bool {
	l := v.Linux()
	return v.Catalog != nil && v.Catalog.OLM && len(l.Candidates) > 0 && (l.Candidates[0].By == "default" || l.Candidates[0].By == "range")
}

// On says of which day a Linux version is that a branch's last commit shows: on
// 2025-09-29. It is "" for a release's.
func On(l *snapshot.Linux) string {
	if len(l.Candidates) == 0 || l.Candidates[0].Head == "" {
		return ""
	}
	return " on " + l.Candidates[0].Head
}

// closest is what SKEW001 expects, by the unit of the distance.
var closest = map[string]string{"minor": "the minor of the Linux driver", "month": "the year and month of the Linux driver"}

func unit(l *snapshot.Linux, windows version.Driver) string {
	if _, some := l.Holds(windows.Calendar); some {
		return "month"
	}
	return "minor"
}

func apart(low, high int, unit string) string {
	switch {
	case low == high:
		return apartOne(low, unit)
	case high < 0:
		return fmt.Sprintf("%d or %s behind", -high, inventory.Many(-low, unit))
	case low > 0:
		return fmt.Sprintf("%d or %s ahead", low, inventory.Many(high, unit))
	}
	return apartOne(low, unit) + ", or " + apartOne(high, unit)
}

func apartOne(d int, unit string) string {
	switch {
	case d == 0:
		return "the same " + unit
	case d < 0:
		return inventory.Many(-d, unit) + " behind"
	}
	return inventory.Many(d, unit) + " ahead"
}
