package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var skew005 = rules.Rule{ID: "SKEW005", Needs: rules.NeedsDrivers, Driver: versionUnknown, Cluster: systemUnknown}

func versionUnknown(v *snapshot.View, report rules.Report) {
	f := rules.Finding{Evidence: slices.Concat(v.Evidence(), v.DaemonSet.Evidence)}
	switch _, known := v.Windows(); {
	case v.DaemonSet.Provisioner == "":
		f.Case = "unnamed"
	case v.Catalog == nil:
		f.Case = "unknown driver"
	case !known && !v.FollowsLinux():
		f = unpinned(v)
	case known && v.Line == nil:
		f.Case, f.Do = "no line", remedy.Change(v, v.Linux().Newest())
	default:
		linuxUnknown(v, report)
		return
	}
	report(f)
}

func unpinned(v *snapshot.View) rules.Finding {
	d := rules.Finding{Case: "unpinned", Evidence: append(v.Evidence(), running(v)...)}
	if v.DaemonSet.Container == "" {
		d.Case = "no container"
	}
	given, pin := fmt.Sprintf("--image-version %s=vX.Y.Z", rules.ImageKey(v)), remedy.Change(v, v.LinuxNow.Newest())
	switch i := v.DaemonSet.Image; {
	case strings.ContainsAny(i.Reference, "${"): // a shell would expand it in a command
		d.Remedy, d.NoStep = "render the template first, and check what it gives", true
	case v.DaemonSet.Container == "":
	case i.Digest != "" && i.Tag == "":
		// A digest can be looked up: that is no reason to change what runs.
		learn := fmt.Sprintf("read the image's labels, to learn which version %s runs, and check with %s", v.DaemonSet.Object, given)
		d.Remedy = learn + "; where nothing tells, " + rules.Summaries(action.Records(pin))
		d.Do = []action.Action{action.ByHand{Object: v.DaemonSet.Object.String(), Text: learn, Look: [][]string{{"skopeo", "inspect", "--no-tags", "--override-os", "windows", "docker://" + i.Reference}}}}
	default:
		d.Do, d.Or = pin, "; or say which version it is with "+given
	}
	return d
}

// linuxUnknown tells of a Linux side that OpenShift doesn't bring. Of one that
// it brings tells DATA001.
func linuxUnknown(v *snapshot.View, report rules.Report) {
	l := v.Linux()
	if l.Known() || !l.Fixed {
		return
	}
	d := rules.Finding{Case: "Linux unknown", Facts: rules.Facts{"reason": l.Reason}, Do: remedy.Gather("daemonsets", "daemonsets.yaml"), Evidence: v.Evidence()}
	if l.Driver == nil && v.Catalog.Platform != "" && idle(v) {
		d.Case = "Linux unknown, idle"
		d.Do = []action.Action{action.DeleteDaemonSet{Object: v.DaemonSet.Object, Why: "it is of another platform", Judge: "whether anything needs it"}}
	}
	if l.Driver != nil {
		d.Object, d.Evidence, d.Do = l.Driver.Object.String(), []inventory.Evidence{l.Driver.Version.At}, nil
		given := fmt.Sprintf("--image-version %s=vX.Y.Z", cmp.Or(l.Driver.Image.Digest, l.Driver.Image.Reference, "IMAGE"))
		if d.Remedy = "pin its image to a version, or say which one it is with " + given; l.Driver.OperatorManaged {
			d.Do, d.Remedy = seeOperator(", and check again with "+given), ""
		}
	}
	report(d)
}

func idle(v *snapshot.View) bool {
	for _, r := range []inventory.Resource{inventory.DaemonSets, inventory.Pods, inventory.Claims, inventory.Volumes} {
		if !v.At.Covered(r) {
			return false
		}
	}
	missing, _ := v.At.Lacking(v.DaemonSet.Provisioner, v.Nodes)
	return len(missing) > 0 && len(missing) == len(v.Nodes) &&
		!slices.ContainsFunc(v.At.Inventory.Volumes, func(u inventory.VolumeUse) bool { return u.Provisioner == v.DaemonSet.Provisioner })
}

func systemUnknown(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase == snapshot.Target {
		return
	}
	for _, d := range snapshot.Select(snap.Inventory.Drivers, func(d inventory.Driver) bool { return d.OS == "" }) {
		report(rules.Finding{Case: "no system", Facts: rules.Facts{"object": d.Object}, Evidence: d.Evidence})
	}
}
