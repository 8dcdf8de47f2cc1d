// Package remedy chooses the actions that bring a driver, WMCO or csi-proxy to
// where a rule wants it: an image, a manifest that bake writes or the project's,
// what somebody decided. It doesn't decide whether anything has to change.
package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Change is what brings the driver to a version: another image where the pod
// stays as it is, the complete DaemonSet where it doesn't.
func Change(v *snapshot.View, to version.Driver) []action.Action {
	if to.IsZero() {
		return byHand(v, "pin the image of %s to a released version", v.DaemonSet.Object)
	}
	line := v.Catalog.Line(to)
	if why := NewManifest(v.DaemonSet, line, v.DaemonSet.HostProcess); why != "" {
		hostProcess := line.HostProcessOnly() || v.DaemonSet.HostProcess && line.CanHostProcess()
		return Replacement(v, to, hostProcess, "the tag alone isn't enough, "+why)
	}
	list := imageChange(v, to)
	_, sets := list[0].(action.SetImage)
	if _, baked := Bakes(v, to, v.DaemonSet.HostProcess); !baked {
		return list
	}
	if len(v.DaemonSet.Siblings) > 0 {
		return Replacement(v, to, v.DaemonSet.HostProcess, "several of its containers change")
	}
	if what := csidriver.PodChanges(v.Catalog.Name, v.DaemonSet.Version.Version, to, v.DaemonSet.HostProcess); what != "" && (sets || InFile(v)) {
		return Replacement(v, to, v.DaemonSet.HostProcess, "the tag alone isn't enough, other in the project's pod: "+what)
	}
	return list
}

// Replacement puts the complete DaemonSet of a version in the place of the
// present one: bake's, or the project's where bake writes none.
func Replacement(v *snapshot.View, to version.Driver, hostProcess bool, why string) []action.Action {
	becomes := became(v.DaemonSet, v.Catalog, to, hostProcess)
	b, ok := Bakes(v, to, hostProcess)
	if ok && InFile(v) {
		file := snapshot.FileOf(v.DaemonSet)
		return []action.Action{action.ByHand{
			Text:    fmt.Sprintf("replace %s in %s by the one that bake writes, v%s", v.DaemonSet.Object, file, to.Core()),
			Look:    [][]string{slices.Concat([]string{"bake", "manifests", "csi-driver"}, b.words(file), []string{"--out", b.folder(v.DaemonSet)})},
			Becomes: becomes,
		}}
	}
	if ok {
		if image, access, err := csidriver.Replacement(v.At.Catalog, b.Options, v.DaemonSet); err == nil {
			becomes.Container = csidriver.Container(b.Driver)
			return append(podSecurity(v, hostProcess), action.ReplaceDriver{
				Object: v.DaemonSet.Object, Title: v.Catalog.Title, Why: why, Version: to, Bake: b.words(action.Saved(v.DaemonSet.Object)), Access: access, DaemonSet: csidriver.DaemonSetFile,
				Folder: b.folder(v.DaemonSet), Image: image, Strategy: v.DaemonSet.Strategy, Becomes: *becomes,
			})
		}
	}
	return projectManifest(v, to, hostProcess, why, becomes)
}

// podSecurity lets HostProcess pods into the driver's namespace, where it is
// known that they may not be there.
func podSecurity(v *snapshot.View, hostProcess bool) []action.Action {
	ns := v.DaemonSet.Object.Namespace
	have := v.At.Inventory.Cluster.Namespace(ns)
	if !hostProcess || have == nil || have.Privileged() {
		return nil
	}
	return []action.Action{action.SetPodSecurity{Namespace: ns, Was: have}}
}

func projectManifest(v *snapshot.View, to version.Driver, hostProcess bool, why string, becomes *inventory.Driver) []action.Action {
	place, render := ManifestOf(v.Catalog, hostProcess, to)
	hand := action.ByHand{Object: v.DaemonSet.Object.String(), Becomes: becomes}
	hand.Text = fmt.Sprintf("replace %s by the Windows node DaemonSet of the project's manifest for v%s, %s: %s. Give it the present one's name, namespace, selector, service account, node selector and tolerations, leave controller and CSIDriver out, and replace the present one instead of applying over it",
		v.DaemonSet.Object, to.Core(), place, why)
	if render != "" {
		hand.Lines = []string{fmt.Sprintf("test -s %[1]s || { %[2]s > %[1]s; }", v.Catalog.Name+"-v"+to.Core()+".yaml", render)}
	}
	if !InFile(v) {
		hand.Save = &v.DaemonSet.Object
	}
	var list []action.Action
	if ns := v.DaemonSet.Object.Namespace; hostProcess && !v.DaemonSet.HostProcess && !InFile(v) && ns != "" && !v.At.Inventory.Cluster.Namespace(ns).Privileged() {
		list = []action.Action{action.SetPodSecurity{Namespace: ns, Was: v.At.Inventory.Cluster.Namespace(ns)}}
		if account := serviceAccount(v.DaemonSet); account != "" {
			list = append(list, action.BindSCC{Namespace: ns, Account: account})
		}
	}
	return append(list, hand)
}

// FitVersion is the version that Windows should follow Linux to: the Linux one, or,
// where that can't run on the nodes' Windows, the next that can.
func FitVersion(v *snapshot.View, d *inventory.Driver, to version.Driver) version.Driver {
	if v.Catalog == nil {
		return to
	}
	line := v.Catalog.Line(to)
	at := slices.IndexFunc(v.Catalog.Lines, func(l catalog.Line) bool { return line != nil && l.From == line.From })
	if at < 0 || runsOnNodes(v, &v.Catalog.Lines[at], d.HostProcess) || d.Version.Commit != "" && Build(v, to, "") != nil {
		return to
	}
	for i := at + 1; i < len(v.Catalog.Lines); i++ {
		if l := &v.Catalog.Lines[i]; !l.Unreleased && runsOnNodes(v, l, d.HostProcess) {
			return snapshot.CatalogVersion(l.From)
		}
	}
	return to
}

// runsOnNodes tells whether nothing is known that keeps a line off the Windows
// builds of the driver's nodes.
func runsOnNodes(v *snapshot.View, l *catalog.Line, hostProcess bool) bool {
	for _, n := range v.Nodes {
		if l.RunsWMIC && n.Build >= snapshot.Server2025 {
			return false
		}
		if isolated := !hostProcess && !l.HostProcessOnly(); isolated && snapshot.Builds[n.Build] != "" && len(l.Builds) > 0 && !l.HasImageFor(n.Build, n.Runtime) {
			return false
		}
	}
	return true
}

// NewManifest says why a tag alone isn't enough; "" where it is.
func NewManifest(d *inventory.Driver, line *catalog.Line, hostProcess bool) string {
	if line == nil {
		return ""
	}
	switch {
	case !hostProcess && line.HostProcess == catalog.HostProcessMandatory:
		return "it runs as a HostProcess container and mounts no csi-proxy pipe"
	case hostProcess && line.HostProcess == catalog.HostProcessNone:
		return "it can't run as a HostProcess container and needs csi-proxy's pipes"
	case hostProcess && line.Flag != "" && (d.HostProcessFlag == nil || !*d.HostProcessFlag):
		return "its pod must give " + line.Flag + "=true"
	case hostProcess && line.Flag == "" && d.HostProcessFlag != nil:
		return "it lacks the HostProcess flag that the pod gives"
	}
	if missing := snapshot.Unmounted(line, d); !hostProcess && len(d.Pipes) > 0 && len(missing) > 0 {
		return "it dials " + missing[0].Group + ", which the present manifest doesn't mount"
	}
	return ""
}

// ManifestOf says where the project's manifest of a version is, and which
// command writes it where none is published.
func ManifestOf(cat *catalog.Driver, hostProcess bool, to version.Driver) (place, render string) {
	const unseen = "whose place the catalog doesn't know"
	p := cat.Publication(to, hostProcess)
	switch {
	case p == nil:
		return unseen, ""
	case p.Deploys != "":
		return "which " + p.Deploys + " brings", ""
	case p.Render != "":
		return "which the project's Helm chart writes", strings.TrimSpace(p.RenderCommand(to))
	case p.ManifestURL(to) == "":
		return unseen, ""
	case p.SetImage:
		return fmt.Sprintf("%s with its image set to %s", p.ManifestURL(to), p.Repository+":"+tagOf(cat, hostProcess, to)), ""
	}
	return p.ManifestURL(to), ""
}

// StepTo brings the driver to the first version of a line.
func StepTo(v *snapshot.View, l *catalog.Line) []action.Action {
	return Change(v, snapshot.CatalogVersion(l.From))
}
