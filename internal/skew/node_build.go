package skew

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// builds names Windows builds that container images are made for.
var builds = map[int]string{
	17763: "Windows Server 2019", 18362: "Windows Server 1903", 18363: "Windows Server 1909",
	19041: "Windows Server 2004", 19042: "Windows Server 20H2", 20348: "Windows Server 2022",
	25398: "Windows Server 23H2", 26100: "Windows Server 2025",
}

func buildName(build int) string {
	if build == 0 {
		return "an unknown build"
	}
	if name := builds[build]; name != "" {
		return fmt.Sprintf("%s (build %d)", name, build)
	}
	return "build " + strconv.Itoa(build)
}

// windowsBuild is NODE003.
func windowsBuild(v *view, out *sink) {
	if !v.needsImages() || v.Phase == Target {
		return
	}
	byBuild := map[int][]*inventory.Node{}
	for _, n := range v.Nodes {
		if n.Build == 0 || !v.Line.HasImageFor(n.Build, n.Runtime) {
			byBuild[n.Build] = append(byBuild[n.Build], n)
		}
	}
	for _, build := range slices.Sorted(maps.Keys(byBuild)) {
		out.add(v.buildDraft(build, byBuild[build]))
	}
}

// needsImages tells whether the driver runs in containers of its own, which
// need an image of the node's build. HP001 speaks of those that mustn't.
func (v *view) needsImages() bool {
	return !v.D.HostProcess && v.Line != nil && !mandatory(v.Line) && !v.Moves()
}

// imageless tells whether NODE003 blocks the driver: there is no image of its
// version for one of its nodes.
func (v *view) imageless() bool {
	return v.needsImages() && len(v.Line.Builds) > 0 && slices.ContainsFunc(v.unproven(), func(n *inventory.Node) bool {
		return builds[n.Build] != "" && !v.Line.HasImageFor(n.Build, n.Runtime)
	})
}

// mustLeaveContainer tells whether only a HostProcess container lets the driver
// run on one of its nodes: NODE003 asks for that first, and it has other images.
func (v *view) mustLeaveContainer() bool {
	return v.imageless() && canHostProcess(v.Line) && slices.ContainsFunc(v.unproven(), func(n *inventory.Node) bool {
		return builds[n.Build] != "" && v.lineWith(func(l *catalog.Line) bool { return l.HasImageFor(n.Build, n.Runtime) }) == nil
	})
}

// unproven are the nodes that the driver isn't seen to work on.
func (v *view) unproven() []*inventory.Node {
	if v.Planned {
		return v.Nodes
	}
	return v.index.unproven(v.D, v.Nodes)
}

func (v *view) buildDraft(build int, nodes []*inventory.Node) draft {
	windows, _ := v.Windows()
	d := draft{
		Severity: finding.Warn, Same: strconv.Itoa(build), Nodes: nodes,
		Observed: fmt.Sprintf("%s on %s, a container that isn't HostProcess", buildName(build), few(namesOf(nodes))),
		Expected: "a node of " + buildList(v.Line.Builds),
		When:     before, Evidence: slices.Concat(v.evidence(), evidenceOf(nodes)),
	}
	switch {
	case len(v.Line.Builds) == 0:
		d.Expected = "an image of that build"
		d.Why = fmt.Sprintf("for which Windows builds %s %s has images isn't known", v.Name(), windows)
	case build == 0:
		d.Why = "whether there is an image for the node's Windows can't be told"
	case builds[build] == "":
		d.Why = "the build isn't one that images are known to be made for"
	default:
		d.Severity = finding.Block
		d.Why = fmt.Sprintf("%s %s has no image for it, so the pod can't start there", v.Name(), windows)
	}
	d.Remedy, d.Do = v.buildRemedy(build, nodes[0].Runtime)
	return d
}

func buildList(list []int) string {
	if len(list) == 0 {
		return "a build that has images"
	}
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = strconv.Itoa(b)
	}
	return "build " + strings.Join(names, ", ")
}

// buildRemedy names what runs on a build, a HostProcess manifest or a version
// with images of it, and does it where that is one version.
func (v *view) buildRemedy(build int, runtime string) (string, []action.Action) {
	if build == 0 {
		return "", []action.Action{action.Gather{Text: "look at the node's build", Get: []string{"get", "nodes", "-l", "kubernetes.io/os=windows", "-o", "custom-columns=NAME:.metadata.name,KERNEL:.status.nodeInfo.kernelVersion"}}}
	}
	const orElse = "; or keep the pods off these nodes with a node selector"
	images := v.lineWith(func(l *catalog.Line) bool { return l.HasImageFor(build, runtime) })
	withImages := ""
	if images != nil {
		withImages = fmt.Sprintf("deploy a version with images of it: %s from %s on", v.Name(), images.From)
	}
	switch {
	case canHostProcess(v.Line) && images == nil:
		windows, _ := v.Windows()
		return "", v.replacement(windows, true, "it runs on any Windows as a HostProcess container")
	case canHostProcess(v.Line):
		return withImages + "; or apply the project's HostProcess manifest of this version, which runs on any build", v.stepTo(images)
	case images != nil:
		return withImages + orElse, v.stepTo(images)
	}
	l := v.lineWith(canHostProcess)
	if l == nil {
		return "keep the pods off these nodes with a node selector: no version of the driver is known to run there", nil
	}
	remedy := fmt.Sprintf("deploy a version that runs as a HostProcess container, on any build: %s from %s on", v.Name(), l.From) + orElse
	if linux := v.Catalog.Line(v.Linux().Newest()); linux != nil && mandatory(linux) {
		return remedy, v.change(v.fit(v.D, v.Linux().Newest()))
	}
	if mandatory(l) {
		return remedy, v.stepTo(l)
	}
	return remedy, nil
}

func canHostProcess(l *catalog.Line) bool {
	return cmp.Or(l.HostProcess, catalog.HostProcessNone) != catalog.HostProcessNone
}

// stepTo brings the driver to the first version of a line.
func (v *view) stepTo(l *catalog.Line) []action.Action {
	to, err := version.ParseDriver(l.From)
	if err != nil {
		return nil
	}
	return v.change(to)
}
