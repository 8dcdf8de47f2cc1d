package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
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
	d := v.DaemonSet
	groups := snapshot.Map(missing, func(u catalog.APIUse) string { return u.Group })
	mounts := snapshot.Map(missing, func(u catalog.APIUse) string { return fmt.Sprintf(`\\.\pipe\csi-proxy-%s-%s`, u.Group, u.Versions[0]) })
	f := aboutPipes(v, finding.Block)
	f.Observed = fmt.Sprintf("version %s dials csi-proxy's %s; mounted: %s", d.Version.Version, strings.Join(groups, ", "), cmp.Or(pipeNames(d.Pipes), "no pipe"))
	f.Why = "the driver connects to each group's pipe when it starts or mounts; one that isn't mounted into the pod isn't there for it"
	f.Remedy = fmt.Sprintf("in %s give container %s, for each of %s, a volume with that hostPath (no type) and a volumeMount with the same mountPath", d.Object, cmp.Or(d.Container, "of the driver"), strings.Join(mounts, ", "))
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
	f := aboutPipes(v, finding.Unknown)
	f.NoStep = true // SKEW005's step does it
	f.Observed = fmt.Sprintf("mounts %s; which pipes it dials depends on its version, which isn't known: %s", cmp.Or(pipeNames(d.Pipes), "no pipe"), cmp.Or(d.Version.Reason, "no version seen"))
	f.Why = "older lines of this driver dial other versions of the pipes"
	f.Remedy = fmt.Sprintf("name a version in the image of %s, or tell the one behind it: --image-version '%s=vX.Y.Z'", d.Object, d.Image.Reference)
	report(f)
}

func aboutPipes(v *snapshot.View, severity finding.Severity) rules.Finding {
	return rules.Finding{
		Severity: severity, Expected: "a pipe of each group that the driver dials", When: rules.Before,
		Source: lineSource(v), Evidence: rules.Cite(slices.Concat(pipeFacts(v), []inventory.Evidence{v.DaemonSet.Version.At})),
	}
}

// lineSource is where the catalog has a driver's API groups from.
func lineSource(v *snapshot.View) string {
	if v.Line != nil && len(v.Line.Evidence) > 0 {
		return v.Line.Evidence[0].Source
	}
	if v.Catalog != nil && len(v.Catalog.Evidence) > 0 {
		return v.Catalog.Evidence[0].Source
	}
	return kep1122
}

// fitsLinux tells whether the driver mounts what the version that Linux has now dials:
// that is the one to pin.
func fitsLinux(v *snapshot.View) bool {
	line := v.Catalog.Line(v.LinuxNow.Newest())
	return v.LinuxNow.Known() && line != nil && !line.HostProcessOnly() && len(snapshot.Unmounted(line, v.DaemonSet)) == 0
}
