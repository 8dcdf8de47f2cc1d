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
func pipeNotMounted(snap *snapshot.Snapshot, report rules.Report) {
	for _, d := range snap.WindowsDaemonSets() {
		if d.HostProcess || snap.KnownUnmatched(d) {
			continue
		}
		if line := snap.LineAt(d); line != nil {
			notMounted(snap, d, snapshot.Unmounted(line, d), report)
		} else {
			maybeNotMounted(snap, d, report)
		}
	}
}

func notMounted(snap *snapshot.Snapshot, d *inventory.Driver, missing []catalog.APIUse, report rules.Report) {
	if len(missing) == 0 {
		return
	}
	groups := snapshot.Map(missing, func(u catalog.APIUse) string { return u.Group })
	mounts := snapshot.Map(missing, func(u catalog.APIUse) string { return fmt.Sprintf(`\\.\pipe\csi-proxy-%s-%s`, u.Group, u.Versions[0]) })
	f := aboutPipes(snap, d, finding.Block)
	f.Observed = fmt.Sprintf("version %s dials csi-proxy's %s; mounted: %s", d.Version.Version, strings.Join(groups, ", "), cmp.Or(pipeNames(d.Pipes), "no pipe"))
	f.Why = "the driver connects to each group's pipe when it starts or mounts; one that isn't mounted into the pod isn't there for it"
	f.Remedy = fmt.Sprintf("in %s give container %s, for each of %s, a volume with that hostPath (no type) and a volumeMount with the same mountPath", d.Object, cmp.Or(d.Container, "of the driver"), strings.Join(mounts, ", "))
	report(f)
}

// maybeNotMounted reports a driver whose version isn't known: only if no
// line of it could live with its mounts, or all of them, is there an answer.
func maybeNotMounted(snap *snapshot.Snapshot, d *inventory.Driver, report rules.Report) {
	known := snap.LineOf(d)
	if known == nil || d.Container == "" {
		return // SKEW005 asks for the driver, or for its container
	}
	fits, lines := 0, 0
	for i := range known.Lines {
		if known.Lines[i].HostProcess == catalog.HostProcessMandatory {
			continue
		}
		if lines++; len(snapshot.Unmounted(&known.Lines[i], d)) == 0 {
			fits++
		}
	}
	if fits == lines || fitsLinux(snap, known, d) {
		return // SKEW005 asks for the version, and for that of Linux where nobody knows it
	}
	f := aboutPipes(snap, d, finding.Unknown)
	f.NoStep = true // SKEW005's step does it
	f.Observed = fmt.Sprintf("mounts %s; which pipes it dials depends on its version, which isn't known: %s", cmp.Or(pipeNames(d.Pipes), "no pipe"), cmp.Or(d.Version.Reason, "no version seen"))
	f.Why = "older lines of this driver dial other versions of the pipes"
	f.Remedy = fmt.Sprintf("name a version in the image of %s, or tell the one behind it: --image-version '%s=vX.Y.Z'", d.Object, d.Image.Reference)
	report(f)
}

func aboutPipes(snap *snapshot.Snapshot, d *inventory.Driver, severity finding.Severity) rules.Finding {
	return rules.Finding{
		Severity: severity, Object: d.Object.String(), Expected: "a pipe of each group that the driver dials", When: rules.Before,
		Source: lineSource(snap, d), Evidence: rules.Cite(slices.Concat(pipeFacts(snap, d), []inventory.Evidence{d.Version.At})),
	}
}

// lineSource is where the catalog has a driver's API groups from.
func lineSource(snap *snapshot.Snapshot, d *inventory.Driver) string {
	if l := snap.LineAt(d); l != nil && len(l.Evidence) > 0 {
		return l.Evidence[0].Source
	}
	if known := snap.LineOf(d); known != nil && len(known.Evidence) > 0 {
		return known.Evidence[0].Source
	}
	return kep1122
}

// fitsLinux tells whether d mounts what the version that Linux has now dials:
// that is the one to pin.
func fitsLinux(snap *snapshot.Snapshot, known *catalog.Driver, d *inventory.Driver) bool {
	return slices.ContainsFunc(snap.Views, func(v *snapshot.View) bool {
		line := known.Line(v.LinuxNow.Newest())
		return v.DaemonSet == d && v.LinuxNow.Known() && line != nil && !line.HostProcessOnly() && len(snapshot.Unmounted(line, d)) == 0
	})
}
