package hostprocess

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var hp001 = rules.Rule{ID: "HP001", Needs: rules.NeedsDrivers, Driver: hostProcessRequired, Lacks: true}

func hostProcessRequired(v *snapshot.View, report rules.Report) {
	first := v.LineWith((*catalog.Line).HostProcessOnly)
	windows, known := v.Windows()
	if v.DaemonSet.HostProcess || v.FollowsLinux() || first == nil || !known && v.DaemonSet.Container == "" {
		return // SKEW005 asks for the container that runs the driver
	}
	d := rules.Finding{
		Case: "required", Facts: rules.Facts{"windows": windows, "first": first.From, "pipes": len(v.DaemonSet.Pipes)},
		Evidence: slices.Concat(v.Evidence(), pipeEvidence(v.DaemonSet)),
	}
	switch {
	case !known:
		d.Case = "maybe required"
	case !v.Line.HostProcessOnly():
		return
	default:
		d.Do = remedy.Change(v, windows)
		if back, ok := downgrade(v); ok {
			d.Or = fmt.Sprintf("; or go back to v%s, the version that Linux has now, which runs in the present pod", back.Core())
		}
	}
	report(d)
}

// downgrade is the version that Linux has now, where the present pod can run that
// one.
func downgrade(v *snapshot.View) (version.Driver, bool) {
	linux, certain := v.LinuxNow.Certain()
	line := (*catalog.Line)(nil)
	if certain {
		line = v.Catalog.Line(linux)
	}
	return linux, line != nil && remedy.NewManifest(v.DaemonSet, line, false) == ""
}
