package hostprocess

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var hp005 = rules.Rule{ID: "HP005", Needs: rules.NeedsDrivers, Driver: hostProcessCrossing}

// Ahead is what HostProcess is to the Linux side's line, where a driver with
// pipes is to follow it there: mandatory, default, or "".
func Ahead(v *snapshot.View) catalog.HostProcess {
	if v.DaemonSet.HostProcess || len(v.DaemonSet.Pipes) == 0 || v.Catalog == nil || v.FollowsLinux() || v.OperatorTakesOver() || v.Line.HostProcessOnly() {
		return ""
	}
	must := strictest(v, v.Linux())
	if must == catalog.HostProcessMandatory || must == catalog.HostProcessDefault && v.At.Phase != snapshot.Now && strictest(v, &v.LinuxNow) != must {
		return must
	}
	return ""
}

func hostProcessCrossing(v *snapshot.View, report rules.Report) {
	l, must := v.Linux(), Ahead(v)
	if must == "" {
		return
	}
	d := rules.Finding{Case: "crossing", Facts: rules.Facts{"linux": l, "must": must, "pipes": len(v.DaemonSet.Pipes)}, Evidence: slices.Concat(pipeEvidence(v.DaemonSet), l.Evidence())}
	to := remedy.FitVersion(v, v.DaemonSet, l.Newest())
	d.Do = remedy.Change(v, to)
	if must == catalog.HostProcessDefault {
		d.Severity, d.PlanInfo = finding.Info, v.At.Hops > 0
		d.Remedy = fmt.Sprintf("nothing has to be done: with v%s the present pod goes on working with csi-proxy, and the project deploys it as a HostProcess container", to.Core())
	}
	if v.HasRival() {
		d.Remedy, d.Do, d.NoStep = rules.SettleFirst, nil, true
	}
	if line := v.Catalog.Line(l.Newest()); line != nil && len(line.Evidence) > 0 {
		d.Source = line.Evidence[0].Source
	}
	report(d)
}

// strictest is what HostProcess is to the strictest line that the Linux side's
// version may be of.
func strictest(v *snapshot.View, l *snapshot.Linux) catalog.HostProcess {
	order := []catalog.HostProcess{"", catalog.HostProcessNone, catalog.HostProcessOptional, catalog.HostProcessDefault, catalog.HostProcessMandatory}
	worst := 0
	for _, c := range l.Candidates {
		if line := v.Catalog.Line(c.Version); line != nil {
			worst = max(worst, slices.Index(order, line.HostProcess))
		}
	}
	return order[worst]
}
