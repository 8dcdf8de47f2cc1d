package remedy

import (
	"cmp"
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

func tagOf(cat *catalog.Driver, hostProcess bool, to version.Driver) string {
	tag := "v" + to.Core()
	if line := cat.Line(to); hostProcess && line != nil && line.ImageSuffix != "" {
		tag += "-" + line.ImageSuffix
	}
	return tag
}

// imageChange gives a DaemonSet the image of another version: the project's
// own of that version, or a mirror's once it has it.
func imageChange(v *snapshot.View, to version.Driver) []action.Action {
	if v.DaemonSet.Version.Commit != "" {
		if list := Build(v, to, ""); list != nil {
			return list
		}
	}
	tag := tagOf(v.Catalog, v.DaemonSet.HostProcess, to)
	// The catalog may not have that image: then the present tag, 26.06.0, is all there is
	// to tell how the project writes its tags.
	_, unread := version.ParseDriver(v.DaemonSet.Image.Tag)
	if p := v.Catalog.Publication(to, v.DaemonSet.HostProcess); (p == nil || p.Repository == "") && unread == nil && !strings.HasPrefix(v.DaemonSet.Image.Tag, "v") {
		tag = strings.TrimPrefix(tag, "v")
	}
	return Retag(v, v.DaemonSet.HostProcess, to, tag)
}

// Retag is imageChange for a tag of the version.
func Retag(v *snapshot.View, hostProcess bool, to version.Driver, tag string) []action.Action {
	d, cat := v.DaemonSet, v.Catalog
	p := cat.Publication(to, hostProcess)
	project, gone, own := "", GoneImage(cat, hostProcess, to), cat.Publishes(d.Image.Repository)
	if p != nil {
		if project = p.Repository; p.Deploys != "" {
			return byHand(v, "let %s bring %s to %s", p.Deploys, d.Object, tag)
		}
	}
	repository := project // the project moved, or that version wasn't seen
	if d.Image.Repository != "" && (!own || p != nil && p.Holds(d.Image.Repository)) {
		repository = d.Image.Repository
	}
	set := action.SetImage{Object: d.Object, Provisioner: d.Provisioner, Container: d.Container, Was: d.Image.Reference, Image: repository + ":" + tag, Also: d.Siblings, Digest: d.Image.Digest != "",
		Strategy: d.Strategy, To: to, Unsure: p != nil && p.Unsure}
	if !own && project != "" && repository != project {
		set.From = project + ":" + tag
	} else if !own && d.Image.Repository != "" {
		set.Needs = []string{"the repository " + repository + " has that image"}
	}
	switch {
	case repository == "" && gone != "":
		if list := Build(v, to, "the project's "+gone); list != nil {
			return list
		}
		return byHand(v, "set %s to an image of %s that you have kept; the project's %s", d.Object, tag, gone)
	case repository == "":
		return byHand(v, "set %s to %s; where the project publishes that image the catalog doesn't know", d.Object, tag)
	case InFile(v):
		return []action.Action{inManifest(v, set)}
	}
	return []action.Action{set}
}

func inManifest(v *snapshot.View, set action.SetImage) action.Action {
	hand := action.ByHand{Object: v.DaemonSet.Object.String(), Text: fmt.Sprintf("in the manifest of %s set the image of container %s to %s", v.DaemonSet.Object, Container(v.DaemonSet), set.Image)}
	if set.Digest {
		hand.Text += " with its digest, " + set.Image + "@sha256:..."
	}
	if set.From != "" {
		hand.Text += ", once that mirror has it: " + set.From
	}
	after := *v.DaemonSet
	after.Image = inventory.Image{Reference: set.Image}
	after.Version = inventory.VersionFact{Version: set.To, Known: true, By: "tag", At: v.DaemonSet.Version.At}
	hand.Becomes = &after
	return hand
}

// GoneImage says of a version whose image can't be had any more which can; ""
// for the others.
func GoneImage(cat *catalog.Driver, hostProcess bool, v version.Driver) string {
	next, gone := cat.Gone(v, hostProcess)
	switch {
	case !gone:
		return ""
	case next == "":
		return "is gone with its registry"
	}
	return "is gone with its registry, v" + next + " is the next that can be had"
}

// RunsGone says of the image that a DaemonSet names that no node can pull it any more;
// "" where one can, or may from a mirror.
func RunsGone(v *snapshot.View) string {
	windows, known := v.Windows()
	gone := GoneImage(v.Catalog, v.DaemonSet.HostProcess, windows)
	if !known || gone == "" || !v.Catalog.Publishes(v.DaemonSet.Image.Repository) {
		return ""
	}
	return "the project's image of v" + windows.Core() + " " + gone
}

// Build builds an image of the release's own commit; nil where bake can't, or where
// that isn't the version.
func Build(v *snapshot.View, to version.Driver, why string) []action.Action {
	d, release := v.DaemonSet, v.At.Release().MinorString()
	b, windows := v.At.Catalog.Build(v.Catalog.Name), windowsVersions(v.Nodes)
	if b == nil || b.Head(release) == nil || snapshot.CatalogVersion(b.Head(release).Version).Core() != to.Core() || v.Catalog.OLM || InFile(v) {
		return nil
	}
	mode, bases := csidriver.Pipes, snapshot.Map(windows, func(w string) string { return "mcr.microsoft.com/windows/servercore:ltsc" + w })
	if d.HostProcess {
		if slices.Contains(windows, "2025") {
			return nil // its base has to be made first
		}
		mode, bases = csidriver.HostProcess, []string{"mcr.microsoft.com/oss/kubernetes/windows-host-process-containers-base-image:v1.0.0"}
	}
	build := action.BuildImage{
		SetImage: action.SetImage{Object: d.Object, Provisioner: d.Provisioner, Container: d.Container, Was: d.Image.Reference, Image: action.Built(b.Name + "-" + release + ".txt"), Strategy: d.Strategy, To: to},
		Release:  release, Commit: b.Head(release).Commit, Why: why,
		Bake: []string{b.Name, "--for", release, "--mode", string(mode), "--windows", strings.Join(windows, ",")}, Bases: bases,
	}
	if l := v.Linux(); len(l.Candidates) == 1 && l.Candidates[0].Commit != "" {
		build.Commit = l.Candidates[0].Commit
	}
	return []action.Action{build}
}

// OwnImage offers an image that nobody publishes: built from the commit that the
// release ships, by bake driver; "" where the catalog knows none.
func OwnImage(v *snapshot.View) string {
	if v.Catalog == nil {
		return ""
	}
	release := v.At.From
	if v.At.Hops > 0 {
		release = v.At.To
	}
	b := v.At.Catalog.Build(v.Catalog.Name)
	if b == nil || b.Head(release.MinorString()) == nil {
		return ""
	}
	return fmt.Sprintf("; or build an image from the commit that OpenShift %s ships, as https://github.com/winbake/winbake/blob/main/docs/csi-drivers.md#a-driver-of-the-releases-own-commit says", release.MinorString())
}

// became is a driver at another version, as the catalog knows it.
func became(d *inventory.Driver, cat *catalog.Driver, to version.Driver, hostProcess bool) *inventory.Driver {
	n := *d
	n.HostProcess, n.ForeignFlags, n.HostProcessFlag, n.HostProcessFlagReason, n.Unmounted = hostProcess, nil, nil, "", nil
	n.Version = inventory.VersionFact{Version: to, Known: true, By: "tag", At: d.Version.At}
	n.Image = inventory.Image{}
	n.Registrar, n.Partial, n.Siblings = nil, "", nil
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

func byHand(v *snapshot.View, format string, args ...any) []action.Action {
	return []action.Action{action.ByHand{Text: fmt.Sprintf(format, args...), Object: v.DaemonSet.Object.String()}}
}

// InFile tells whether the DaemonSet is a manifest, with no cluster behind it.
func InFile(v *snapshot.View) bool { return v.At.Request.Static }

// Container is the name of the driver's container, in a sentence.
func Container(d *inventory.Driver) string { return cmp.Or(d.Container, "of the driver") }

// windowsName is --windows for nodes of one version; "" for the usual one, for
// several and where it isn't known.
func windowsName(nodes []*inventory.Node) string {
	if names := windowsVersions(nodes); len(names) == 1 && names[0] != csidriver.WindowsVersions()[0] {
		return names[0]
	}
	return ""
}

// windowsVersions are those of nodes; the usual one where one isn't known.
func windowsVersions(nodes []*inventory.Node) []string {
	known := csidriver.WindowsVersions()
	names := snapshot.Unique(snapshot.Map(nodes, func(n *inventory.Node) string { return strings.TrimPrefix(snapshot.Builds[n.Build], "Windows Server ") }))
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) }) {
		return known[:1]
	}
	return names
}
