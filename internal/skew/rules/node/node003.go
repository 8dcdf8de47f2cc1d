package node

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

func windowsBuild(v *snapshot.View, report rules.Report) {
	if !needsImages(v) {
		return
	}
	without := snapshot.Select(v.Nodes, func(n *inventory.Node) bool { return n.Build == 0 || !v.Line.HasImageFor(n.Build, n.Runtime) })
	for _, nodes := range snapshot.GroupBy(without, func(n *inventory.Node) string { return strconv.Itoa(n.Build) }) {
		report(withoutImage(v, nodes[0].Build, nodes))
	}
	if gone := remedy.RunsGone(v); gone != "" {
		report(rules.Finding{Case: "gone", Facts: rules.Facts{"gone": gone}, Evidence: v.Evidence(), Do: []action.Action{action.ByHand{
			Object: v.DaemonSet.Object.String(),
			Text:   "keep the image of " + v.DaemonSet.Object.String() + " in a registry of your own, from a node that has it, before a Windows node is added; or raise the driver to a version that can be had",
		}}})
	}
}

// needsImages tells whether the driver runs in containers of its own, which
// need an image of the node's build. HP001 is about those that mustn't, and bake driver
// builds none without the node's Windows.
func needsImages(v *snapshot.View) bool {
	return v.DaemonSet.Version.Commit == "" && !v.DaemonSet.HostProcess && v.Line != nil && !v.Line.HostProcessOnly() && !v.FollowsLinux()
}

func withoutImage(v *snapshot.View, build int, nodes []*inventory.Node) rules.Finding {
	d := rules.Finding{
		Case: "no image", Facts: rules.Facts{"build": snapshot.BuildName(build), "nodes": nodes, "builds": snapshot.Map(v.Line.Builds, strconv.Itoa), "windows": v.DaemonSet.Version.Version},
		Same: strconv.Itoa(build), Nodes: nodes, Evidence: slices.Concat(v.Evidence(), snapshot.NodeEvidence(nodes)),
	}
	switch {
	case len(v.Line.Builds) == 0:
		d.Case = "unknown images"
	case build == 0:
		d.Case = "unknown build"
	case snapshot.Builds[build] == "":
		d.Case = "no known build"
	}
	d.Remedy, d.Do = buildRemedy(v, build, nodes[0].Runtime)
	return d
}

// buildRemedy names what runs on a build, a HostProcess manifest or a version
// with images of it, and does it where that is one version.
func buildRemedy(v *snapshot.View, build int, runtime string) (string, []action.Action) {
	if build == 0 {
		return "", []action.Action{action.Gather{Text: "look at the node's build", Get: []string{"get", "nodes", "-l", "kubernetes.io/os=windows", "-o", "custom-columns=NAME:.metadata.name,KERNEL:.status.nodeInfo.kernelVersion"}}}
	}
	const keepOff = "; or keep the pods off these nodes with a node selector"
	orElse := remedy.OwnImage(v) + keepOff
	images := v.LineWith(func(l *catalog.Line) bool { return l.HasImageFor(build, runtime) })
	withImages := ""
	if images != nil {
		withImages = fmt.Sprintf("deploy a version with images of it: %s from %s on", v.Name(), images.From)
	}
	switch {
	case v.Line.CanHostProcess() && images == nil:
		windows, _ := v.Windows()
		return "", remedy.Replacement(v, windows, true, "it runs on any Windows as a HostProcess container")
	case v.Line.CanHostProcess():
		return withImages + "; or apply the project's HostProcess manifest of this version, which runs on any build", remedy.StepTo(v, images)
	case images != nil:
		if own := remedy.Build(v, v.Linux().Newest(), "the project has none for "+snapshot.BuildName(build)); own != nil {
			return "build an image from the release's own commit; or " + withImages + keepOff, own
		}
		return withImages + orElse, remedy.StepTo(v, images)
	}
	l := v.LineWith((*catalog.Line).CanHostProcess)
	if l == nil {
		return "keep the pods off these nodes with a node selector: no version of the driver is known to run there" + remedy.OwnImage(v), nil
	}
	advice := fmt.Sprintf("deploy a version that runs as a HostProcess container, on any build: %s from %s on", v.Name(), l.From) + orElse
	if linux := v.Catalog.Line(v.Linux().Newest()); linux.HostProcessOnly() {
		return advice, remedy.Change(v, remedy.FitVersion(v, v.DaemonSet, v.Linux().Newest()))
	}
	if l.HostProcessOnly() {
		return advice, remedy.StepTo(v, l)
	}
	return advice, nil
}

var node003 = rules.Rule{ID: "NODE003", Needs: rules.NeedsScope, Driver: windowsBuild, Lacks: true, Starts: true, At: rules.AtNow}
