package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// versionUnknown is SKEW005 for one Windows driver.
func versionUnknown(v *snapshot.View, report rules.Report) {
	switch windows, known := v.Windows(); {
	case v.DaemonSet.Provisioner == "":
		report(unidentified(v, "no path, argument or environment variable names its provisioner",
			"give the registrar the path of the driver's socket, or leave this DaemonSet out of what is checked"))
	case v.Catalog == nil:
		report(unidentified(v, "the catalog doesn't know "+v.DaemonSet.Provisioner,
			"add the driver to the catalog with --catalog, or ask its vendor which node plugin fits which controller"))
	case !known && !v.FollowsLinux():
		report(unpinned(v))
	case known && v.Line == nil:
		report(unidentified(v, fmt.Sprintf("the catalog has no line of %s for %s", v.Catalog.Title, windows),
			"deploy a released version that runs on Windows", remedy.Change(v, v.Linux().Newest())...))
	default:
		linuxUnknown(v, report)
	}
}

// unidentified is the finding of a driver about which nothing follows.
func unidentified(v *snapshot.View, observed, advice string, do ...action.Action) rules.Finding {
	return rules.Finding{
		Severity: finding.Unknown, Observed: observed, Expected: "a driver and a version that the catalog knows",
		Why: "nothing can be said of how it fits the Linux side", Remedy: advice, Do: do, When: rules.Before,
		Evidence: slices.Concat(v.Evidence(), v.DaemonSet.Evidence),
	}
}

// unpinned is the finding of a driver whose version can't be told.
func unpinned(v *snapshot.View) rules.Finding {
	d := rules.Finding{
		Severity: finding.Unknown,
		Observed: fmt.Sprintf("%s: %s", cmp.Or(v.DaemonSet.Image.Reference, "no image"), cmp.Or(v.DaemonSet.Version.Reason, "the version isn't known")),
		Expected: "a version that can be told from the image",
		Why:      "what can't be compared can't be called safe",
		Do:       remedy.Change(v, v.LinuxNow.Newest()),
		When:     rules.Before, Evidence: v.Evidence(),
	}
	d.Remedy = fmt.Sprintf("%s; or say which version it is with --image-version %s=vX.Y.Z", rules.Summaries(action.Records(d.Do)), rules.ImageKey(v))
	if v.DaemonSet.Container == "" {
		d.Observed = cmp.Or(v.DaemonSet.Version.Reason, "which container runs the driver isn't known")
		d.Remedy, d.Do, d.NoStep = "give the manifest of the pods that run the driver too; where they are these, give the driver's container its --endpoint or its project's name, so that it can be told from the others", nil, true
	}
	if strings.ContainsAny(v.DaemonSet.Image.Reference, "${") { // a shell would expand it in a command
		d.Remedy, d.Do, d.NoStep = "render the template first, and check what it gives", nil, true
	}
	d.Evidence = append(d.Evidence, running(v)...)
	return d
}

// running are the images that the pods run.
func running(v *snapshot.View) []inventory.Evidence {
	return snapshot.Map(v.DaemonSet.Running, func(r inventory.Running) inventory.Evidence {
		return inventory.Evidence{Where: "running on " + rules.SomeOf(r.Nodes), Text: r.Image.Reference}
	})
}

// linuxUnknown tells of a Linux side that OpenShift doesn't bring. Of one that
// it brings tells DATA001.
func linuxUnknown(v *snapshot.View, report rules.Report) {
	l := v.Linux()
	if l.Known() || !l.Fixed {
		return
	}
	d := rules.Finding{
		Severity: finding.Unknown, Observed: "the Linux side's version isn't known: " + l.Reason,
		Expected: "a Linux driver whose version can be told",
		Why:      "there is nothing to compare the Windows driver with",
		Do:       remedy.Gather("daemonsets", "daemonsets.yaml"),
		When:     rules.Before, Same: "linux", Evidence: v.Evidence(),
	}
	if l.Driver == nil && v.Catalog.Platform != "" && idle(v) {
		d.Severity, d.Why = finding.Warn, "no node has registered it, no Windows pod has a volume of it, and nothing here would make one"
		d.Do = []action.Action{action.DeleteDaemonSet{Object: v.DaemonSet.Object, Why: "it is of another platform", Judge: "whether anything needs it"}}
	}
	if l.Driver != nil {
		d.Object = l.Driver.Object.String()
		d.Evidence = []inventory.Evidence{l.Driver.Version.At}
		d.Do = nil
		given := fmt.Sprintf("--image-version %s=vX.Y.Z", cmp.Or(l.Driver.Image.Digest, l.Driver.Image.Reference, "IMAGE"))
		if d.Remedy = "pin its image to a version, or say which one it is with " + given; l.Driver.OperatorManaged {
			d.Do, d.Remedy = seeOperator(", and check again with "+given), ""
		}
	}
	report(d)
}

// idle tells of a driver that no node has registered and no Windows pod wants.
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

// seeOperator shows the versions of operators from OperatorHub.
func seeOperator(then string) []action.Action {
	return []action.Action{action.ByHand{Text: "see which version the operator runs" + then, Look: [][]string{{"oc", "get", "csv", "--all-namespaces"}}}}
}

// systemUnknown is SKEW005 for DaemonSets that say nothing of their system.
func systemUnknown(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase == snapshot.Target {
		return
	}
	list := snap.Inventory.Drivers
	if snap.Phase == snapshot.Planned {
		list = snap.Request.Planned
	}
	for _, d := range snapshot.Select(list, func(d inventory.Driver) bool { return d.OS == "" }) {
		report(rules.Finding{
			Severity: finding.Unknown, Object: d.Object.String(),
			Observed: "nothing says whether it is for Linux or Windows",
			Expected: "a node selector kubernetes.io/os",
			Why:      "whether it is one of the drivers to judge can't be told",
			Remedy:   fmt.Sprintf("add the node selector kubernetes.io/os to %s", d.Object),
			When:     rules.Before, Evidence: d.Evidence,
		})
	}
}

// mixedRollout is SKEW006.
func mixedRollout(v *snapshot.View, report rules.Report) {
	evidence := running(v)
	if len(evidence) == 0 {
		evidence = v.DaemonSet.Evidence
	}
	observed := ""
	switch r, images := v.DaemonSet.Rollout, snapshot.ImagesRunning(v.DaemonSet); {
	case images > 1:
		observed = inventory.Many(images, "image") + " run"
	case v.At.Hops == 0: // AFTER001 reports rollouts then
		return
	case r != nil && r.Observed && r.Updated < r.Desired:
		observed = fmt.Sprintf("%d of %d pods are of the current template", r.Updated, r.Desired)
	default:
		return
	}
	d := rules.Finding{
		Severity: finding.Warn, Observed: observed, Expected: "one image on all nodes",
		Why:  "nodes run versions that the DaemonSet no longer names",
		Do:   []action.Action{action.WaitRollout{Object: v.DaemonSet.Object, Strategy: v.DaemonSet.Strategy}},
		When: rules.Before, Evidence: evidence,
	}
	if v.DaemonSet.Strategy == "OnDelete" {
		d.Observed += ", the update strategy is OnDelete"
	}
	report(d)
}
