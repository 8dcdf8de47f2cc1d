package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// pipeNotMounted is PROXY003: the driver dials a group of which it mounts no
// version.
func pipeNotMounted(w *world) []draft {
	if w.Phase == Target {
		return nil
	}
	var said []draft
	for _, d := range w.windows() {
		if d.HostProcess || w.idle(d) {
			continue
		}
		if line := w.lineAt(d); line != nil {
			said = append(said, w.notMounted(d, unmounted(line, d))...)
		} else {
			said = append(said, w.maybeNotMounted(d)...)
		}
	}
	return said
}

// unmounted are the groups that line dials and of which d mounts no version.
func unmounted(line *catalog.Line, d *inventory.Driver) []catalog.APIUse {
	var missing []catalog.APIUse
	for _, u := range line.API {
		if !slices.ContainsFunc(d.Pipes, func(p inventory.Pipe) bool {
			return p.Group == u.Group && slices.Contains(u.Versions, p.Version)
		}) {
			missing = append(missing, u)
		}
	}
	return missing
}

func (w *world) notMounted(d *inventory.Driver, missing []catalog.APIUse) []draft {
	if len(missing) == 0 {
		return nil
	}
	var groups, mounts []string
	for _, u := range missing {
		groups = append(groups, u.Group)
		mounts = append(mounts, fmt.Sprintf(`\\.\pipe\csi-proxy-%s-%s`, u.Group, u.Versions[0]))
	}
	f := draft{Severity: finding.Block, Object: d.Object.String()}
	f.Observed = fmt.Sprintf("version %s dials csi-proxy's %s; mounted: %s", d.Version.Version, strings.Join(groups, ", "), cmp.Or(pipeNames(d.Pipes), "no pipe"))
	f.Expected = "a pipe of each group that the driver dials"
	f.Why = "the driver connects to each group's pipe when it starts or mounts; one that isn't mounted into the pod isn't there for it"
	f.Remedy = fmt.Sprintf("in %s give container %s, for each of %s, a volume with that hostPath (no type) and a volumeMount with the same mountPath", d.Object, cmp.Or(d.Container, "of the driver"), strings.Join(mounts, ", "))
	f.When = before
	f.Source = w.lineSource(d)
	f.Evidence = cite(slices.Concat(w.pipeFacts(d), []inventory.Evidence{d.Version.At}))
	return []draft{f}
}

// maybeNotMounted speaks of a driver whose version isn't known: only if no
// line of it could live with its mounts, or all of them, is there an answer.
func (w *world) maybeNotMounted(d *inventory.Driver) []draft {
	known := w.lineOf(d)
	if known == nil || d.Container == "" {
		return nil // SKEW005 asks for the driver, or for its container
	}
	fits, lines := 0, 0
	for i := range known.Lines {
		if known.Lines[i].HostProcess == catalog.HostProcessMandatory {
			continue
		}
		if lines++; len(unmounted(&known.Lines[i], d)) == 0 {
			fits++
		}
	}
	if fits == lines || w.fitsLinux(known, d) {
		return nil // SKEW005 asks for the version, and for that of Linux where nobody knows it
	}
	f := draft{Severity: finding.Unknown, Object: d.Object.String(), NoStep: true} // SKEW005's step mends it
	f.Observed = fmt.Sprintf("mounts %s; which pipes it dials depends on its version, which isn't known: %s", cmp.Or(pipeNames(d.Pipes), "no pipe"), cmp.Or(d.Version.Reason, "no version seen"))
	f.Expected = "a pipe of each group that the driver dials"
	f.Why = "older lines of this driver dial other versions of the pipes"
	f.Remedy = fmt.Sprintf("name a version in the image of %s, or tell the one behind it: --image-version '%s=vX.Y.Z'", d.Object, d.Image.Reference)
	f.When = before
	f.Source = w.lineSource(d)
	f.Evidence = cite(slices.Concat(w.pipeFacts(d), []inventory.Evidence{d.Version.At}))
	return []draft{f}
}

// lineSource is where the catalog has a driver's API groups from.
func (w *world) lineSource(d *inventory.Driver) string {
	if l := w.lineAt(d); l != nil && len(l.Evidence) > 0 {
		return l.Evidence[0].Source
	}
	if known := w.lineOf(d); known != nil && len(known.Evidence) > 0 {
		return known.Evidence[0].Source
	}
	return kep1122
}

// fitsLinux tells whether d mounts what the version that Linux has now dials:
// that is the one to pin.
func (w *world) fitsLinux(known *catalog.Driver, d *inventory.Driver) bool {
	for _, v := range w.Views {
		if v.D == d && v.LinuxNow.Known() {
			line := known.Line(v.LinuxNow.Newest())
			return line != nil && !mandatory(line) && len(unmounted(line, d)) == 0
		}
	}
	return false
}
