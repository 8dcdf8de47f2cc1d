package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// versionUnknown is SKEW005 for one Windows driver.
func versionUnknown(v *view, out *sink) {
	switch windows, known := v.Windows(); {
	case v.D.Provisioner == "":
		out.add(v.unidentified("no path, argument or environment variable names its provisioner",
			"give the registrar the path of the driver's socket, or leave this DaemonSet out of what is checked"))
	case v.Catalog == nil:
		out.add(v.unidentified("the catalog doesn't know "+v.D.Provisioner,
			"add the driver to the catalog with --catalog, or ask its vendor which node plugin fits which controller"))
	case !known && !v.Moves():
		out.add(v.unpinned())
	case known && v.Line == nil:
		out.add(v.unidentified(fmt.Sprintf("the catalog has no line of %s for %s", v.Catalog.Title, windows),
			"deploy a released version that runs on Windows", v.change(v.Linux().Newest())...))
	default:
		v.linuxUnknown(out)
	}
}

// unidentified is the draft of a driver about which nothing follows.
func (v *view) unidentified(observed, remedy string, do ...action.Action) draft {
	return draft{
		Severity: finding.Unknown, Observed: observed, Expected: "a driver and a version that the catalog knows",
		Why: "nothing can be said of how it fits the Linux side", Remedy: remedy, Do: do, When: before,
		Evidence: slices.Concat(v.evidence(), v.D.Evidence),
	}
}

// unpinned is the draft of a driver whose version can't be told.
func (v *view) unpinned() draft {
	d := draft{
		Severity: finding.Unknown,
		Observed: fmt.Sprintf("%s: %s", cmp.Or(v.D.Image.Reference, "no image"), cmp.Or(v.D.Version.Reason, "the version isn't known")),
		Expected: "a version that can be told from the image",
		Why:      "what can't be compared can't be called safe",
		Do:       v.change(v.LinuxNow.Newest()),
		When:     before, Evidence: v.evidence(),
	}
	d.Remedy = fmt.Sprintf("%s; or say which version it is with --image-version %s=vX.Y.Z", summaries(action.Records(d.Do)), v.imageKey())
	if v.D.Container == "" {
		d.Observed = cmp.Or(v.D.Version.Reason, "which container runs the driver isn't known")
		d.Remedy, d.Do, d.NoStep = "give the manifest of the pods that run the driver too; where they are these, give the driver's container its --endpoint or its project's name, so that it can be told from the others", nil, true
	}
	if strings.ContainsAny(v.D.Image.Reference, "${") { // a shell would expand it in a command
		d.Remedy, d.Do, d.NoStep = "render the template first, and check what it gives", nil, true
	}
	for _, r := range v.D.Running {
		d.Evidence = append(d.Evidence, inventory.Evidence{Where: "running on " + few(r.Nodes), Text: r.Image.Reference})
	}
	return d
}

// imageKey is what --image-version takes for this image.
func (v *view) imageKey() string {
	if len(v.D.Running) == 1 && v.D.Running[0].Image.Digest != "" {
		return v.D.Running[0].Image.Digest
	}
	return cmp.Or(v.D.Image.Digest, v.D.Image.Reference, "IMAGE")
}

// linuxUnknown tells of a Linux side that OpenShift doesn't bring. Of one that
// it brings tells DATA001.
func (v *view) linuxUnknown(out *sink) {
	l := v.Linux()
	if l.Known() || !l.Fixed {
		return
	}
	d := draft{
		Severity: finding.Unknown, Observed: "the Linux side's version isn't known: " + l.Reason,
		Expected: "a Linux driver whose version can be told",
		Why:      "there is nothing to compare the Windows driver with",
		Do:       gather("daemonsets", "daemonsets.yaml"),
		When:     before, Same: "linux", Evidence: v.evidence(),
	}
	if l.Driver != nil {
		d.Object = l.Driver.Object.String()
		d.Evidence = []inventory.Evidence{l.Driver.Version.At}
		d.Do = nil
		d.Remedy = fmt.Sprintf("pin its image to a version, or say which one it is with --image-version %s=vX.Y.Z",
			cmp.Or(l.Driver.Image.Digest, l.Driver.Image.Reference, "IMAGE"))
	}
	out.add(d)
}

// systemUnknown is SKEW005 for DaemonSets that say nothing of their system.
func systemUnknown(w *world, out *sink) {
	if w.Phase == Target {
		return
	}
	list := w.inv.Drivers
	if w.Phase == Planned {
		list = w.req.Planned
	}
	for i := range list {
		d := &list[i]
		if d.OS != "" {
			continue
		}
		out.add(draft{
			Severity: finding.Unknown, Object: d.Object.String(),
			Observed: "nothing says whether it is for Linux or Windows",
			Expected: "a node selector kubernetes.io/os",
			Why:      "whether it is one of the drivers to judge can't be told",
			Remedy:   fmt.Sprintf("add the node selector kubernetes.io/os to %s", d.Object),
			When:     before, Evidence: d.Evidence,
		})
	}
}

// mixedRollout is SKEW006.
func mixedRollout(v *view, out *sink) {
	if v.Phase != Now {
		return
	}
	var evidence []inventory.Evidence
	for _, r := range v.D.Running {
		evidence = append(evidence, inventory.Evidence{Where: "running on " + few(r.Nodes), Text: r.Image.Reference})
	}
	if len(evidence) == 0 {
		evidence = v.D.Evidence
	}
	observed := ""
	switch r, images := v.D.Rollout, runs(v.D); {
	case images > 1:
		observed = many(images, "image") + " run"
	case v.Hops == 0: // AFTER001 speaks of rollouts then
		return
	case r != nil && r.Observed && r.Updated < r.Desired:
		observed = fmt.Sprintf("%d of %d pods are of the current template", r.Updated, r.Desired)
	default:
		return
	}
	d := draft{
		Severity: finding.Warn, Observed: observed, Expected: "one image on all nodes",
		Why:  "nodes run versions that the DaemonSet no longer names",
		Do:   []action.Action{action.WaitRollout{Object: v.D.Object, Strategy: v.D.Strategy}},
		When: before, Evidence: evidence,
	}
	if v.D.Strategy == "OnDelete" {
		d.Observed += ", the update strategy is OnDelete"
	}
	out.add(d)
}

// runs is how many images the pods of a DaemonSet run.
func runs(d *inventory.Driver) int {
	images := map[string]bool{}
	for _, r := range d.Running {
		images[cmp.Or(r.Image.Digest, r.Image.Reference)] = true
	}
	return len(images)
}
