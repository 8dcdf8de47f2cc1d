package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// change is what brings the driver to a version: another image where the pod
// stays as it is, the complete DaemonSet where it doesn't.
func (v *view) change(to version.Driver) []action.Action {
	if to.IsZero() {
		return v.byHand("pin the image of %s to a released version", v.D.Object)
	}
	var line *catalog.Line
	if v.Catalog != nil {
		line = v.Catalog.Line(to)
	}
	if why := newManifest(v.D, line, v.D.HostProcess); why != "" {
		return v.replacement(to, publicationKind(line, v.D.HostProcess), "the tag alone isn't enough, "+why)
	}
	return v.imageChange(to)
}

// changeAfter is how the driver follows after the hop: by what was planned for
// it, where anything was.
func (v *view) changeAfter(to version.Driver) []action.Action {
	if v.Planned || v.Hop < v.Hops-1 {
		return v.change(to)
	}
	if list := v.plannedChanges(v.D); len(list) > 0 {
		return list
	}
	return v.change(to)
}

// byHand is what a person does about the driver.
func (v *view) byHand(format string, args ...any) []action.Action {
	return []action.Action{action.ByHand{Text: fmt.Sprintf(format, args...), Object: v.D.Object.String()}}
}

// inFile tells whether the DaemonSet is a manifest, with no cluster behind it.
func (v *view) inFile() bool { return v.Planned || v.req.Static }

// replacement puts the complete DaemonSet of a version in the place of the
// present one: bake's, or the project's where bake writes none.
func (v *view) replacement(to version.Driver, hostProcess bool, why string) []action.Action {
	becomes := became(v.D, v.Catalog, to, hostProcess)
	b, ok := v.bakes(to, hostProcess)
	switch {
	case !ok:
		return v.projectManifest(to, hostProcess, why, becomes)
	case v.inFile():
		file := plannedFile(v.D)
		return []action.Action{action.ByHand{
			Text:    fmt.Sprintf("replace %s in %s by the one that bake writes, v%s", v.D.Object, file, to.Core()),
			Look:    [][]string{slices.Concat([]string{"bake", "manifests", "csi-driver"}, b.words(file), []string{"--out", b.folder(v.D)})},
			Becomes: becomes,
		}}
	}
	image, access, err := csidriver.Replacement(v.cat, b.Options, v.D)
	if err != nil {
		return v.projectManifest(to, hostProcess, why, becomes)
	}
	return append(v.podSecurity(hostProcess), action.ReplaceDriver{
		Object: v.D.Object, Title: v.Catalog.Title, Why: why, Version: to, Bake: b.words(action.Saved(v.D.Object)), Access: access, DaemonSet: csidriver.DaemonSetFile,
		Folder: b.folder(v.D), Image: image, Strategy: v.D.Strategy, Becomes: *becomes,
	})
}

// podSecurity lets HostProcess pods into the driver's namespace, where it is
// known that they may not be there.
func (v *view) podSecurity(hostProcess bool) []action.Action {
	ns := v.D.Object.Namespace
	have := v.inv.Cluster.Namespace(ns)
	if !hostProcess || have == nil || have.Privileged() {
		return nil
	}
	return []action.Action{action.SetPodSecurity{Namespace: ns, Was: have}}
}

// projectManifest is for what bake doesn't write.
func (v *view) projectManifest(to version.Driver, hostProcess bool, why string, becomes *inventory.Driver) []action.Action {
	place, render := manifestOf(v.Catalog, hostProcess, to)
	hand := action.ByHand{Object: v.D.Object.String(), Becomes: becomes}
	hand.Text = fmt.Sprintf("replace %s by the Windows node DaemonSet of the project's manifest for v%s, %s: %s. Give it the present one's name, namespace, selector, service account, node selector and tolerations, leave controller and CSIDriver out, save the present one first (oc get -o yaml), and use oc replace",
		v.D.Object, to.Core(), place, why)
	if render != "" {
		hand.Text += "; `" + render + "` writes it"
	}
	var list []action.Action
	if ns := v.D.Object.Namespace; hostProcess && !v.D.HostProcess && !v.inFile() && ns != "" && !v.privilegedNamespace() {
		list = []action.Action{action.SetPodSecurity{Namespace: ns, Was: v.inv.Cluster.Namespace(ns)}}
		if account := serviceAccount(v.D); account != "" {
			list = append(list, action.BindSCC{Namespace: ns, Account: account})
		}
	}
	return append(list, hand)
}

// became is a driver at another version, as the catalog knows it.
func became(d *inventory.Driver, cat *catalog.Driver, to version.Driver, hostProcess bool) *inventory.Driver {
	n := *d
	n.HostProcess, n.ForeignFlags, n.HostProcessFlag, n.HostProcessFlagReason, n.Unmounted = hostProcess, nil, nil, "", nil
	n.Version = inventory.VersionFact{Version: to, Known: true, By: "tag", At: d.Version.At}
	n.Image = inventory.Image{}
	n.Registrar, n.Partial = nil, ""
	if cat == nil {
		return &n
	}
	if p := cat.Publication(to, hostProcess); p != nil && p.Repository != "" {
		tag := tagOf(cat, hostProcess, to)
		n.Image = inventory.Image{Reference: p.Repository + ":" + tag, Repository: p.Repository, Tag: tag}
	}
	line := cat.Line(to)
	if n.Pipes = nil; line != nil && !hostProcess {
		for _, use := range line.API {
			n.Pipes = append(n.Pipes, inventory.Pipe{Group: use.Group, Version: use.Versions[0]})
		}
	}
	if given := true; line != nil && hostProcess && line.Flag != "" {
		n.HostProcessFlag = &given
	}
	return &n
}

// fit is the version that Windows should follow Linux to: the Linux one, or,
// where that can't run on the nodes' Windows, the next that can.
func (v *view) fit(d *inventory.Driver, to version.Driver) version.Driver {
	if v.Catalog == nil {
		return to
	}
	line := v.Catalog.Line(to)
	at := slices.IndexFunc(v.Catalog.Lines, func(l catalog.Line) bool { return line != nil && l.From == line.From })
	if at < 0 || v.runsOnNodes(&v.Catalog.Lines[at], d.HostProcess) {
		return to
	}
	for i := at + 1; i < len(v.Catalog.Lines); i++ {
		l := &v.Catalog.Lines[i]
		if from, err := version.ParseDriver(l.From); err == nil && !l.Unreleased && v.runsOnNodes(l, d.HostProcess) {
			return from
		}
	}
	return to
}

// runsOnNodes tells whether nothing is known that keeps a line off the Windows
// builds of the driver's nodes.
func (v *view) runsOnNodes(l *catalog.Line, hostProcess bool) bool {
	for _, n := range v.Nodes {
		if l.RunsWMIC && n.Build >= server2025 {
			return false
		}
		if isolated := !hostProcess && !mandatory(l); isolated && builds[n.Build] != "" && len(l.Builds) > 0 && !l.HasImageFor(n.Build, n.Runtime) {
			return false
		}
	}
	return true
}

// publicationKind tells whether a driver that changes to a line is a HostProcess
// one then.
func publicationKind(line *catalog.Line, hostProcess bool) bool {
	return mandatory(line) || hostProcess && canHostProcess(line)
}

// newManifest says why a tag alone isn't enough; "" where it is.
func newManifest(d *inventory.Driver, line *catalog.Line, hostProcess bool) string {
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
		return "it hasn't got the HostProcess flag that the pod gives"
	case !hostProcess && len(d.Pipes) > 0 && missingGroup(d, line) != "":
		return "it dials " + missingGroup(d, line) + ", which the present manifest doesn't mount"
	}
	return ""
}

// missingGroup is the first group of a line of which no version is mounted.
func missingGroup(d *inventory.Driver, line *catalog.Line) string {
	for _, use := range line.API {
		if !slices.ContainsFunc(d.Pipes, func(p inventory.Pipe) bool { return p.Group == use.Group && slices.Contains(use.Versions, p.Version) }) {
			return use.Group
		}
	}
	return ""
}

func container(d *inventory.Driver) string { return cmp.Or(d.Container, "of the driver") }

// manifestOf says where the project's manifest of a version is, and which
// command writes it where none is published.
func manifestOf(cat *catalog.Driver, hostProcess bool, to version.Driver) (place, render string) {
	const unseen = "whose place the catalog doesn't know"
	if cat == nil {
		return unseen, ""
	}
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
