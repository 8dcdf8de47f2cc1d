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
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var skew003 = rules.Rule{ID: "SKEW003", Needs: rules.NeedsDrivers, Driver: knownIncompatible}

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
