package action

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// cutTag parts a reference that has no digest.
func cutTag(ref string) (repository, tag string) {
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[:colon], ref[colon+1:]
	}
	return ref, ""
}

// SetImage gives a container of a DaemonSet another image.
type SetImage struct {
	defaults
	Object inventory.Object
	// Container is "" where it isn't known: then it is asked for.
	Container string
	// Provisioner is the driver that its pods register; "" for csi-proxy.
	Provisioner string
	// Was and Image are references. Digest: the image is named by its digest too,
	// which is asked for; the tag stays, as it tells the version.
	Was, Image string
	Digest     bool
	// Also are the pod's other containers with the same image, as they are now.
	Also []inventory.Sibling
	// From is where a mirror takes the image from, "" for none.
	From string
	// Unsure: whether the image was published isn't known.
	Unsure bool
	// Strategy is the DaemonSet's.
	Strategy string
	To       version.Driver
	// Registrar: the container is the registrar's.
	Registrar bool
	// Proxy: it is csi-proxy's DaemonSet.
	Proxy bool
	// Needs must be true before.
	Needs []string
}

func (a SetImage) apply(inv *inventory.Inventory) {
	repository, tag := cutTag(a.Image)
	image := inventory.Image{Reference: a.Image, Repository: repository, Tag: tag}
	if a.Digest {
		image.Digest = "sha256:" // a later image is pinned as well
	}
	tagged := inventory.VersionFact{Version: a.To, Known: !a.To.IsZero(), By: "tag"}
	if a.Proxy {
		inv.Proxies = slices.Clone(inv.Proxies)
		for i := range inv.Proxies {
			if p := &inv.Proxies[i]; p.Object == a.Object {
				p.Image, p.Version = image, tagged
			}
		}
		return
	}
	d := driver(inv, a.Object)
	if d == nil {
		return
	}
	tagged.At = d.Version.At
	d.Siblings = slices.Clone(d.Siblings)
	for i := range d.Siblings {
		if s := &d.Siblings[i]; s.Container == a.Container || slices.ContainsFunc(a.Also, func(o inventory.Sibling) bool { return o.Container == s.Container }) {
			s.Image = image
		}
	}
	if a.Registrar && d.Registrar != nil {
		s := *d.Registrar
		s.Image, s.Version = image, tagged
		d.Registrar = &s
	} else if a.Container == d.Container {
		d.Image, d.Version = image, tagged
	}
	settled(inv, d)
}

// IsThere tells of an action that gives a container the image that it has: a driver of a
// release that may ship either of two versions is already at the newer one.
func IsThere(a Action) bool {
	set, is := a.(SetImage)
	return is && set.Was == set.Image && !set.Digest && len(set.Also) == 0
}

func (a SetImage) registers() registration { return registration{a.Object, a.Provisioner} }

func (SetImage) rank() int { return rankDrivers }

func (a SetImage) changes() []inventory.Object { return []inventory.Object{a.Object} }

func (a SetImage) sets() []setting {
	if a.Registrar {
		return nil
	}
	return []setting{{"image of " + a.Object.String(), a.Image}}
}
