package skew

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// tagOf is the tag that a project gives a version.
func tagOf(cat *catalog.Driver, hostProcess bool, to version.Driver) string {
	tag := "v" + to.Core()
	if cat != nil && hostProcess {
		if line := cat.Line(to); line != nil && line.ImageSuffix != "" {
			tag += "-" + line.ImageSuffix
		}
	}
	return tag
}

// imageChange gives a DaemonSet the image of another version: the project's
// own of that version, or a mirror's once it has it.
func (v *view) imageChange(to version.Driver) []action.Action {
	tag := tagOf(v.Catalog, v.D.HostProcess, to)
	if !knowsImage(v.Catalog, v.D.HostProcess, to) && bareTag(v.D.Image.Tag) {
		tag = strings.TrimPrefix(tag, "v")
	}
	return v.retag(v.D.HostProcess, to, tag)
}

// knowsImage tells whether the catalog has the image of a version. Where not,
// the present tag is all there is to tell how the project writes its tags.
func knowsImage(cat *catalog.Driver, hostProcess bool, to version.Driver) bool {
	if cat == nil {
		return false
	}
	p := cat.Publication(to, hostProcess)
	return p != nil && p.Repository != ""
}

// bareTag tells a version's tag that has no v: 26.06.0.
func bareTag(tag string) bool {
	_, err := version.ParseDriver(tag)
	return err == nil && !strings.HasPrefix(tag, "v")
}

// retag is imageChange for a tag of the version.
func (v *view) retag(hostProcess bool, to version.Driver, tag string) []action.Action {
	d, cat := v.D, v.Catalog
	var p *catalog.Publication
	if cat != nil {
		p = cat.Publication(to, hostProcess)
	}
	project, gone, own := "", "", cat != nil && cat.Publishes(d.Image.Repository)
	if p != nil {
		if project = p.Repository; p.Deploys != "" {
			return v.byHand("let %s bring %s to %s", p.Deploys, d.Object, tag)
		}
	}
	if cat != nil {
		gone = goneImage(cat, hostProcess, to)
	}
	repository := project // the project moved, or that version wasn't seen
	if d.Image.Repository != "" && (!own || p != nil && p.Holds(d.Image.Repository)) {
		repository = d.Image.Repository
	}
	set := action.SetImage{Object: d.Object, Container: d.Container, Was: d.Image.Reference, Image: repository + ":" + tag, Digest: d.Image.Digest != "",
		Strategy: d.Strategy, To: to, Unsure: p != nil && p.Unsure}
	if !own && project != "" && repository != project {
		set.From = project + ":" + tag
	} else if !own && d.Image.Repository != "" {
		set.Needs = []string{"the repository " + repository + " has that image"}
	}
	switch {
	case repository == "" && gone != "":
		return v.byHand("set %s to an image of %s that you have kept; the project's %s", d.Object, tag, gone)
	case repository == "":
		return v.byHand("set %s to %s; where the project publishes that image the catalog doesn't know", d.Object, tag)
	case v.inFile():
		return []action.Action{v.inManifest(set)}
	}
	return []action.Action{set}
}

// inManifest is a change of the image in a manifest.
func (v *view) inManifest(set action.SetImage) action.Action {
	hand := action.ByHand{Object: v.D.Object.String(), Text: fmt.Sprintf("in the manifest of %s set the image of container %s to ", v.D.Object, container(v.D))}
	if set.Digest {
		hand.Text += "the digest of "
	}
	hand.Text += set.Image
	if set.From != "" {
		hand.Text += ", once that mirror has it: " + set.From
	}
	after := *v.D
	after.Image = inventory.Image{Reference: set.Image}
	after.Version = inventory.VersionFact{Version: set.To, Known: true, By: "tag", At: v.D.Version.At}
	hand.Becomes = &after
	return hand
}

// goneImage says of a version whose image can't be had any more which can; ""
// for the others.
func goneImage(cat *catalog.Driver, hostProcess bool, v version.Driver) string {
	next, gone := cat.Gone(v, hostProcess)
	switch {
	case !gone:
		return ""
	case next == "":
		return "is gone with its registry"
	}
	return "is gone with its registry, v" + next + " is the next that can be had"
}
