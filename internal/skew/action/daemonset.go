package action

import (
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// SetImage gives a container of a DaemonSet another image.
type SetImage struct {
	Object inventory.Object
	// Container is "" where it isn't known: then it is asked for.
	Container string
	// Was and Image are references. Digest: the image is named by its digest too,
	// which is asked for; the tag stays, as it tells the version.
	Was, Image string
	Digest     bool
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
	if a.Registrar && d.Registrar != nil {
		s := *d.Registrar
		s.Image, s.Version = image, tagged
		d.Registrar = &s
	} else {
		d.Image, d.Version = image, tagged
	}
	settled(inv, d)
}

// BuildImage builds an image of the commit that a release ships, where nobody publishes
// one that fits, and gives it to a DaemonSet.
type BuildImage struct {
	// SetImage has of its Image only where bake writes the reference to: Built.
	SetImage
	// Release is the cluster's minor, Commit the one that it ships as far as is known.
	Release, Commit string
	// Bake are bake's words without --base, Bases the images that it is put onto, by tag.
	Bake, Bases []string
	// Why says why no published image fits.
	Why string
}

// Built is the reference that a file holds, in place of an image.
func Built(file string) string { return "@" + file }

// File is what Built was made of.
func (a BuildImage) File() string { return a.Image[1:] }

func (a BuildImage) apply(inv *inventory.Inventory) {
	a.SetImage.apply(inv)
	if d := driver(inv, a.Object); d != nil {
		d.Version.By, d.Version.Commit = "label", a.Commit
	}
}

// ReplaceDriver puts the complete DaemonSet that bake writes in the place of the
// present one: same namespace, name and selector, so that its pods roll.
type ReplaceDriver struct {
	Object inventory.Object
	// Title and Version are the driver's, Why says why the tag alone isn't enough.
	Title, Why string
	Version    version.Driver
	// Bake are bake's words, without --out; they read what Saved names.
	Bake []string
	// Access are the folder's other files, in their order; DaemonSet is its name.
	Access    []string
	DaemonSet string
	Folder    string
	Image     string
	Strategy  string
	// Becomes is the driver that it makes of the present one.
	Becomes inventory.Driver
}

// Saved is the file that keeps a DaemonSet as it was.
func Saved(o inventory.Object) string {
	if o.Namespace == "" {
		return o.Name + "-old.yaml"
	}
	return o.Namespace + "." + o.Name + "-old.yaml"
}

func (a ReplaceDriver) apply(inv *inventory.Inventory) {
	become(inv, &a.Becomes)
}

// DeployDriver deploys a driver that the cluster has no Windows DaemonSet of.
type DeployDriver struct {
	Title   string
	Version version.Driver
	// Bake are bake's words, without --out.
	Bake    []string
	Folder  string
	Becomes inventory.Driver
}

func (a DeployDriver) apply(inv *inventory.Inventory) {
	put(inv, a.Becomes)
}

// ApplyPlanned applies manifests that the admin has planned.
type ApplyPlanned struct {
	File string
	// Sets are the planned DaemonSets of the file, Present those of the same name
	// that are there.
	Sets    []inventory.Driver
	Present []inventory.Object
}

func (a ApplyPlanned) apply(inv *inventory.Inventory) {
	for _, p := range a.Sets {
		put(inv, p)
	}
}

// DeleteDaemonSet takes a DaemonSet away that another one replaces.
type DeleteDaemonSet struct {
	Object inventory.Object
	Why    string
	// Without says which pods have no driver then, and for how long; "" for none.
	Without string
	// Judge is what only a person can tell first.
	Judge string
}

func (DeleteDaemonSet) kind() string { return "delete-daemonset" }

func (a DeleteDaemonSet) apply(inv *inventory.Inventory) {
	inv.Drivers = slices.DeleteFunc(slices.Clone(inv.Drivers), func(d inventory.Driver) bool { return d.Object == a.Object })
	inv.Proxies = slices.DeleteFunc(slices.Clone(inv.Proxies), func(p inventory.Proxy) bool { return p.Object == a.Object })
}

// WaitRollout waits until every pod of a DaemonSet is of its newest revision.
type WaitRollout struct {
	Object   inventory.Object
	Strategy string
	// Ready is how many pods are to be ready, of whatever revision; 0 where the
	// revision counts. oc rollout status takes no OnDelete DaemonSet.
	Ready int32
}

func (a WaitRollout) apply(inv *inventory.Inventory) {
	if d := driver(inv, a.Object); d != nil {
		settled(inv, d)
	}
}
