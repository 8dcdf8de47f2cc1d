package skew

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// imageChange gives a DaemonSet the image of another version: the project's
// own of that version, or a mirror's once it has it.
func imageChange(d *inventory.Driver, cat *catalog.Driver, hostProcess bool, to version.Driver, file bool) change {
	tag := tagOf(cat, hostProcess, to)
	if !knowsImage(cat, hostProcess, to) && bareTag(d.Image.Tag) {
		tag = strings.TrimPrefix(tag, "v")
	}
	return retag(d, cat, hostProcess, to, tag, file)
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
func retag(d *inventory.Driver, cat *catalog.Driver, hostProcess bool, to version.Driver, tag string, file bool) change {
	var p *catalog.Publication
	if cat != nil {
		p = cat.Publication(to, hostProcess)
	}
	m := &imageMove{d: d, tag: tag, to: to, project: ""}
	if p != nil {
		m.project, m.unsure = p.Repository, p.Unsure
		if p.Deploys != "" {
			return change{What: fmt.Sprintf("let %s bring %s to %s", p.Deploys, d.Object, tag), to: to}
		}
	}
	if m.own = cat != nil && cat.Publishes(d.Image.Repository); cat != nil {
		m.gone = goneImage(cat, hostProcess, to)
	}
	switch {
	case d.Image.Repository == "":
		m.repository = m.project
	case !m.own || p != nil && p.Holds(d.Image.Repository):
		m.repository = d.Image.Repository
	default:
		m.repository = m.project // the project moved, or that version wasn't seen
	}
	if file {
		return m.inFile()
	}
	return m.inCluster(cat != nil)
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

// imageMove is a DaemonSet's way to another image.
type imageMove struct {
	d   *inventory.Driver
	tag string
	to  version.Driver
	// project is the project's repository for the version, "" unknown; repository
	// is the one to take it from. own: the present image is the project's.
	project, repository string
	own, unsure         bool
	gone                string // see goneImage
}

func (m *imageMove) image() string { return m.repository + ":" + m.tag }

// inFile says it of a manifest.
func (m *imageMove) inFile() change {
	c := change{to: m.to}
	c.What = fmt.Sprintf("in the manifest of %s set the image of container %s to ", m.d.Object, container(m.d))
	switch {
	case m.repository == "":
		c.What += "the project's for " + m.tag + ", " + cmp.Or(m.gone, "whose place the catalog doesn't know")
	case m.d.Image.Digest != "":
		c.What += "the digest of " + m.image()
	default:
		c.What += m.image()
	}
	if m.mirrored() {
		c.What += ", once that mirror has it: " + m.project + ":" + m.tag
	}
	return c
}

// mirrored tells whether the image must be brought to a mirror first, and from
// where is known.
func (m *imageMove) mirrored() bool {
	return !m.own && m.project != "" && m.repository != m.project
}

// inCluster says it of a DaemonSet that runs. known: the catalog knows the
// driver.
func (m *imageMove) inCluster(known bool) change {
	c := change{to: m.to, What: fmt.Sprintf("set %s to %s", m.d.Object, m.tag)}
	image := m.image()
	if m.repository == "" {
		c.What += "; where the project publishes that image the catalog doesn't know"
		if m.gone != "" {
			c.What = fmt.Sprintf("set %s to an image of %s that you have kept; the project's %s", m.d.Object, m.tag, m.gone)
		}
		return c
	}
	first := ""
	switch {
	case m.mirrored():
		c.What = fmt.Sprintf("mirror the image of %s, and set %s to it", m.tag, m.d.Object)
		first = fmt.Sprintf("skopeo copy --all docker://%s:%s docker://%s", m.project, m.tag, image)
	case !m.own && m.d.Image.Repository != "":
		c.What += ", once its repository has that image"
	case m.unsure:
		c.What += "; see first that the image is there, not every version was published"
		first = "skopeo inspect --raw docker://" + image
	case m.own && known && m.repository != m.d.Image.Repository:
		c.What += ", from the repository that the project has it in"
	}
	if m.d.Image.Digest != "" {
		c.What += ", by its digest: put what `skopeo inspect` prints in place of DIGEST"
		first = laidOut(first, "skopeo inspect --format '{{.Digest}}' docker://"+image)
		image = m.repository + "@DIGEST"
	}
	c.Command = laidOut(first, fmt.Sprintf("oc %sset image daemonset/%s %s=%s", namespace(m.d), m.d.Object.Name, container(m.d), image))
	return c
}
