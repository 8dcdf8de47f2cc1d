package versions

import (
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var skew002 = rules.Rule{ID: "SKEW002", Needs: rules.NeedsDrivers, Driver: majorDiffers}

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
