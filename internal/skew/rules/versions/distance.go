// Package versions holds the rules on versions of a Windows driver against the
// Linux one (SKEW).
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

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "SKEW001", Needs: rules.NeedsDrivers, Driver: minorDistance},
	{ID: "SKEW002", Needs: rules.NeedsDrivers, Driver: majorDiffers},
	{ID: "SKEW003", Needs: rules.NeedsDrivers, Driver: knownIncompatible},
	{ID: "SKEW005", Needs: rules.NeedsDrivers, Driver: versionUnknown, Cluster: systemUnknown},
	{ID: "SKEW006", Needs: []inventory.Resource{inventory.DaemonSets, inventory.Pods}, Driver: mixedRollout, At: rules.AtNow},
}

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
		d.Why = "OpenShift expects some skew and asks to keep it small; nobody tests this pair, and the drivers' projects promise nothing for it"
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
		case low > 0: // going back is no step of a plan
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
			d.Do = remedy.ChangeAfter(v, to)
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
	if v.At.Phase != snapshot.Target || v.Planned || v.HasRival() {
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

// followed is the Linux side that the driver is to follow when the update is done.
func followed(v *snapshot.View) *snapshot.Linux {
	if v.At.Hops > 0 && v.LinuxTarget.Known() {
		return &v.LinuxTarget
	}
	return v.Linux()
}

// ends tells whether the update takes the Linux side to where a gap of now isn't
// any more. What an operator from OperatorHub brings moves at another time.
func ends(v *snapshot.View, gap func(version.Driver) bool) bool {
	_, some := v.LinuxTarget.Holds(gap)
	return v.At.Phase == snapshot.Now && v.At.Hops > 0 && v.LinuxTarget.Known() && !some && !v.LinuxTarget.Fixed
}

func endedBy(v *snapshot.View) string {
	return fmt.Sprintf("nothing has to be done: the update to %s takes Linux to %s, and that ends it", v.At.To, &v.LinuxTarget)
}

func majorDiffers(v *snapshot.View, report rules.Report) {
	windows, known := v.Windows()
	l := v.Linux()
	if !known || v.At.Phase != snapshot.Now && v.FollowsLinux() {
		return
	}
	differs := func(c version.Driver) bool { return c.OtherMajor(windows) }
	if _, some := l.Holds(differs); !some {
		return
	}
	d := rules.Finding{Case: "major", Facts: rules.Facts{"linux": l, "windows": windows}, NoStep: v.At.Hops > 0, Evidence: slices.Concat(v.Evidence(), l.Evidence())}
	switch {
	case v.HasRival():
		d.Remedy, d.NoStep = rules.SettleFirst, true
	case ends(v, differs):
		d.Severity, d.Remedy = finding.Info, endedBy(v)
	default:
		d.Do = remedy.Change(v, followed(v).Newest())
	}
	if p := incompatible(v, differs); p != nil {
		d.Severity, d.Why, d.Source, d.When = p.severity, p.Why, p.source(), p.When
		d.Remedy, d.Do = p.Remedy, remedy.Change(v, l.Newest())
		d.Evidence = append(d.Evidence, inventory.Evidence{Where: "catalog, incompatible", Text: p.ID})
	}
	report(d)
}

// pair is an incompatibility of the catalog that holds, and how bad it is here.
type pair struct {
	*catalog.Incompatibility
	severity finding.Severity
	label    string // what the nodes' labels say about it
}

func (p *pair) source() string {
	if len(p.Evidence) == 0 {
		return ""
	}
	return p.Evidence[0].Source
}

// incompatible is the worst pair that holds for a candidate that which takes;
// nil for none.
func incompatible(v *snapshot.View, which func(version.Driver) bool) *pair {
	windows, known := v.Windows()
	if !known || v.Catalog == nil {
		return nil
	}
	var worst *pair
	for _, known := range snapshot.Pointers(v.At.Catalog.Incompatible) {
		if known.Driver != v.Catalog.Name {
			continue
		}
		all, some := v.Linux().Holds(func(c version.Driver) bool { return which(c) && known.Holds(c, windows) })
		if !some {
			continue
		}
		p := weigh(v, known, all)
		if worst == nil || p.severity > worst.severity {
			worst = p
		}
	}
	return worst
}

// weigh finds the severity of a pair that holds, for all candidates or some.
func weigh(v *snapshot.View, known *catalog.Incompatibility, all bool) *pair {
	p := &pair{Incompatibility: known, severity: finding.Block}
	if known.Severity == finding.Warn.String() {
		p.severity = finding.Warn
	}
	if !all {
		p.severity = finding.Unknown
		return p
	}
	label := known.UnlessNodeLabel
	if label == "" {
		return p
	}
	bare := snapshot.Select(v.Nodes, func(n *inventory.Node) bool { _, ok := n.Labels[label]; return !ok })
	switch {
	case len(v.Nodes) == 0:
		p.label = "; whether the Windows nodes carry " + label + " wasn't read"
	case len(bare) == 0:
		p.severity = finding.Info
		p.label = "; all Windows nodes carry " + label
	default:
		p.label = fmt.Sprintf("; %s without %s", rules.SomeOf(snapshot.NodeNames(bare)), label)
	}
	return p
}

func knownIncompatible(v *snapshot.View, report rules.Report) {
	windows, known := v.Windows()
	if !known || v.At.Phase != snapshot.Now && v.FollowsLinux() {
		return
	}
	p := incompatible(v, func(c version.Driver) bool { return !c.OtherMajor(windows) })
	if p == nil {
		return
	}
	d := rules.Finding{
		Case: "pair", Facts: rules.Facts{"linux": v.Linux(), "windows": windows, "pair": p, "label": p.label}, Severity: p.severity, Same: p.ID,
		Why: p.Why, Source: p.source(), When: p.When, Remedy: p.Remedy,
		Evidence: slices.Concat(v.Evidence(), v.Linux().Evidence(), []inventory.Evidence{{Where: "catalog, incompatible", Text: p.ID}}),
	}
	if safe, ok := compatible(v, p.Incompatibility); ok {
		d.Do = remedy.Change(v, safe)
	}
	if p.severity == finding.Unknown {
		d.Why = "it depends on which of the Linux versions the release has: " + p.Why
		d.Or = fmt.Sprintf("; or name the release to its patch (--to %s.Z), or give its payload (--release-image), to know whether that is needed", v.At.Release().MinorString())
	}
	report(d)
}

// compatible is the Linux version of either end of the hop that the pair has
// nothing against; the nearer one first.
func compatible(v *snapshot.View, known *catalog.Incompatibility) (version.Driver, bool) {
	for _, l := range []*snapshot.Linux{&v.LinuxNow, &v.LinuxTarget} {
		w := l.Newest()
		if _, bad := v.Linux().Holds(func(c version.Driver) bool { return known.Holds(c, w) }); l.Known() && !bad {
			return w, true
		}
	}
	return version.Driver{}, false
}
