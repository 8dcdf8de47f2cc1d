package versions

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

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

// knownIncompatible is SKEW003.
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
		Severity: p.severity, Same: p.ID,
		Observed: fmt.Sprintf("Linux %s%s, Windows %s%s", v.Linux(), v.WhoseLinux(), windows, p.label),
		Expected: fmt.Sprintf("not Windows %s with Linux %s", p.Windows, p.Linux),
		Why:      p.Why, Source: p.source(), When: p.When,
		Remedy: p.Remedy,
		Evidence: slices.Concat(v.Evidence(), v.Linux().Evidence(),
			[]inventory.Evidence{{Where: "catalog, incompatible", Text: p.ID}}),
	}
	if p.severity == finding.Unknown {
		d.Why = "it depends on which of the Linux versions the release has: " + p.Why
	}
	if safe, ok := compatible(v, p.Incompatibility); ok {
		d.Do = remedy.Change(v, safe)
	}
	if p.severity == finding.Unknown {
		d.Remedy += fmt.Sprintf("; or name the release to its patch (--to %s.Z), or give its payload (--release-image), to know whether that is needed", v.At.Release().MinorString())
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
