package proxy

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// pipeNotMounted is PROXY003: the driver dials a group of which it mounts no
// version.
func pipeNotMounted(v *snapshot.View, report rules.Report) {
	switch {
	case v.DaemonSet.HostProcess || v.At.KnownUnmatched(v.DaemonSet):
	case v.Line == nil:
		maybeNotMounted(v, report)
	default:
		if missing := snapshot.Unmounted(v.Line, v.DaemonSet); len(missing) > 0 {
			report(notMounted(v, missing))
		}
	}
}

func notMounted(v *snapshot.View, missing []catalog.APIUse) rules.Finding {
	f := aboutPipes(v, "not mounted", rules.Facts{
		"groups": snapshot.Map(missing, func(u catalog.APIUse) string { return u.Group }), "mounted": pipeNames(v.DaemonSet.Pipes),
		"pipes": snapshot.Map(missing, func(u catalog.APIUse) string { return fmt.Sprintf(`\\.\pipe\csi-proxy-%s-%s`, u.Group, u.Versions[0]) }),
	})
	windows, _ := v.Windows()
	if _, ok := remedy.Bakes(v, windows, false); ok {
		f.Case = "not mounted, and bake mounts them"
		f.Do = remedy.Replacement(v, windows, false, "it mounts each pipe that this version dials")
	}
	return f
}

// maybeNotMounted reports a driver whose version isn't known: only if no
// line of it could live with its mounts, or all of them, is there an answer.
func maybeNotMounted(v *snapshot.View, report rules.Report) {
	d := v.DaemonSet
	if v.Catalog == nil || d.Container == "" {
		return // SKEW005 asks for the driver, or for its container
	}
	fits, lines := 0, 0
	for _, line := range snapshot.Pointers(v.Catalog.Lines) {
		if line.HostProcessOnly() {
			continue
		}
		if lines++; len(snapshot.Unmounted(line, d)) == 0 {
			fits++
		}
	}
	if fits == lines || fitsLinux(v) {
		return // SKEW005 asks for the version, and for that of Linux where nobody knows it
	}
	report(aboutPipes(v, "maybe not mounted", rules.Facts{"mounted": pipeNames(d.Pipes)}))
}

func aboutPipes(v *snapshot.View, name string, facts rules.Facts) rules.Finding {
	return rules.Finding{Case: name, Facts: facts, Source: lineSource(v), Evidence: rules.Cite(slices.Concat(pipeEvidence(v), []inventory.Evidence{v.DaemonSet.Version.At}))}
}

// fitsLinux tells whether the driver mounts what the version that Linux has now dials:
// that is the one to pin.
func fitsLinux(v *snapshot.View) bool {
	line := v.Catalog.Line(v.LinuxNow.Newest())
	return v.LinuxNow.Known() && line != nil && !line.HostProcessOnly() && len(snapshot.Unmounted(line, v.DaemonSet)) == 0
}

var proxy003 = rules.Rule{ID: "PROXY003", Needs: rules.NeedsDrivers, Driver: pipeNotMounted, Lacks: true, At: rules.AtNow}
