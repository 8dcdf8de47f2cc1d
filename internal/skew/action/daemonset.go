package action

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// SetImage gives a container of a DaemonSet another image.
type SetImage struct {
	Object inventory.Object
	// Container is "" where it isn't known: then it is asked for.
	Container string
	// Was and Image are references. Digest: the image is named by its digest,
	// which is asked for.
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

func (a SetImage) write(r *record) {
	r.say("set-image", "set container %s of %s to %s", cmp.Or(a.Container, "CONTAINER"), a.Object, a.Image)
	r.Object, r.Needs = a.Object.String(), a.Needs
	if a.From != "" {
		r.Needs = append(r.Needs, "you may push to the mirror")
		r.run("skopeo", "copy", "--all", "docker://"+a.From, "docker://"+a.Image)
	} else if a.Unsure {
		r.run("skopeo", "inspect", "--raw", "docker://"+a.Image, raw(">/dev/null"))
	}
	container := any(a.Container)
	if a.Container == "" {
		container = asked{"", finding.Ask{Name: "CONTAINER", Text: "the container of " + a.Object.String() + " that runs the driver",
			Command: r.line("oc", in(a.Object), "get", kindOf(a.Object), a.Object.Name, "-o", "jsonpath={.spec.template.spec.containers[*].name}")}}
	}
	set := func(image any) []any {
		return []any{"oc", in(a.Object), "set", "image", kindOf(a.Object) + "/" + a.Object.Name, joined{container, image}}
	}
	if a.Digest {
		repository, _ := cutTag(a.Image)
		r.run(set(asked{repository + "@", finding.Ask{Name: "DIGEST", Text: "the digest of " + a.Image,
			Command: r.line("skopeo", "inspect", "--format", "{{.Digest}}", "docker://"+a.Image)}})...)
	} else {
		r.run(set(a.Image)...)
		r.done(imagesOf(a.Object), raw("| grep -qxF"), r.or(a.Image))
	}
	if a.Was != "" {
		r.undo(set(a.Was)...)
	} else {
		r.NoUndo = "which image it has now isn't known"
	}
	rollout(r, a.Object, a.Strategy)
}

// Apply sets the version.
func (a SetImage) Apply(inv *inventory.Inventory) {
	repository, tag := cutTag(a.Image)
	image := inventory.Image{Reference: a.Image, Repository: repository, Tag: tag}
	fact := inventory.VersionFact{Version: a.To, Known: !a.To.IsZero(), By: "tag"}
	if a.Proxy {
		inv.Proxies = slices.Clone(inv.Proxies)
		for i := range inv.Proxies {
			if p := &inv.Proxies[i]; p.Object == a.Object {
				p.Image, p.Version = image, fact
			}
		}
		return
	}
	d := driver(inv, a.Object)
	if d == nil {
		return
	}
	fact.At = d.Version.At
	if a.Registrar && d.Registrar != nil {
		s := *d.Registrar
		s.Image, s.Version = image, fact
		d.Registrar = &s
		return
	}
	d.Image, d.Version = image, fact
	settled(inv, d)
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

func (a ReplaceDriver) write(r *record) {
	r.say("replace-driver", "replace %s by the one that bake writes, v%s", a.Object, a.Version.Core())
	r.Object = a.Object.String()
	old := Saved(a.Object)
	r.save(a.Object, old)
	r.run("bake", "manifests", "csi-driver", a.Bake, "--out", a.Folder)
	made := a.Folder + "-made.txt"
	apply := []any{"oc", "apply"}
	for _, file := range a.Access {
		apply = append(apply, "-f", a.Folder+"/"+file)
	}
	if len(a.Access) > 0 {
		r.run(append(apply, raw("| tee -a"), made)...)
	}
	r.run("oc", "replace", "-f", a.Folder+"/"+a.DaemonSet)
	// All of the pods but their images, which a later step may move, as the API
	// server would store it.
	shape := "jsonpath={.spec.template.spec['volumes','securityContext','nodeSelector','tolerations','serviceAccountName']}{.spec.template.spec.containers[*]['command','args','volumeMounts','securityContext']}"
	file := a.Folder + "/" + a.DaemonSet
	r.done("test", "-s", file, raw("&&"), imagesOf(a.Object),
		raw("| grep -qxF"), r.or(a.Image), raw(`&& [ "$(`), "oc", "replace", "--dry-run=server", "-f", file, "-o", shape, raw(`)" = "$(`), "oc", "get", "-f", file, "-o", shape, raw(`)" ]`))
	r.undo("oc", "replace", "-f", old)
	if len(a.Access) > 0 {
		r.unmake(made, a.Object)
	}
	r.Interrupts = "on each node in its turn new volumes can't be mounted while its pod is replaced, usually for a minute; mounted ones stay"
	rollout(r, a.Object, a.Strategy)
}

// Apply puts the new one in its place.
func (a ReplaceDriver) Apply(inv *inventory.Inventory) {
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

func (a DeployDriver) write(r *record) {
	r.say("deploy-driver", "deploy the Windows DaemonSet of %s v%s on all Windows nodes, and wait until each of them lists %s", a.Title, a.Version.Core(), a.Becomes.Provisioner)
	o := a.Becomes.Object
	r.Object = o.String()
	r.run("bake", "manifests", "csi-driver", a.Bake, "--out", a.Folder)
	made := a.Folder + "-made.txt"
	r.run("oc", "apply", "-f", a.Folder, raw("| tee -a"), made)
	r.done(imagesOf(o), raw("| grep -qxF --"), a.Becomes.Image.Reference)
	r.unmake(made, o)
	rollout(r, o, "")
}

// Apply adds it, registered on all nodes that it takes.
func (a DeployDriver) Apply(inv *inventory.Inventory) {
	if driver(inv, a.Becomes.Object) == nil {
		inv.Drivers = append(slices.Clip(inv.Drivers), a.Becomes)
	}
	settled(inv, driver(inv, a.Becomes.Object))
}

// ApplyPlanned applies manifests that the admin has planned.
type ApplyPlanned struct {
	File string
	// Sets are the planned DaemonSets of the file, Present those of the same name
	// that are there.
	Sets    []inventory.Driver
	Present []inventory.Object
}

func (a ApplyPlanned) write(r *record) {
	var names []string
	for i := range a.Sets {
		names = append(names, a.Sets[i].Object.String())
	}
	r.say("apply-planned", "apply the planned manifest %s (%s)", a.File, some(names))
	r.Object = a.File
	for _, o := range a.Present {
		r.save(o, Saved(o))
		r.undo("oc", "replace", "-f", Saved(o))
	}
	file := listed(a.File)
	r.run("oc", "apply", "-f", file)
	if len(a.Present) > 0 {
		// An apply leaves what another tool has put in; replace doesn't.
		r.run("oc", "replace", "-f", file)
	} else {
		r.undo("oc", "delete", "-f", file, "--ignore-not-found")
	}
	r.done("oc", "diff", "-f", file, raw(">/dev/null"))
	r.wait("oc", "rollout", "status", "-f", file)
}

// Apply puts the planned DaemonSets in.
func (a ApplyPlanned) Apply(inv *inventory.Inventory) {
	for _, p := range a.Sets {
		if d := driver(inv, p.Object); d != nil {
			*d = p
		} else {
			inv.Drivers = append(slices.Clip(inv.Drivers), p)
		}
		settled(inv, driver(inv, p.Object))
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

func (a DeleteDaemonSet) write(r *record) {
	r.say("delete-daemonset", "delete %s%s", a.Object, because(a.Why))
	r.Object, r.Interrupts, r.Judge = a.Object.String(), a.Without, a.Judge
	old := Saved(a.Object)
	r.save(a.Object, old)
	r.run("oc", in(a.Object), "delete", kindOf(a.Object), a.Object.Name)
	r.done("test", "-s", old, raw("&& !"), "oc", in(a.Object), "get", kindOf(a.Object), a.Object.Name, raw(">/dev/null 2>&1"))
	r.undo("oc", "create", "-f", old)
}

// Apply takes it out.
func (a DeleteDaemonSet) Apply(inv *inventory.Inventory) {
	inv.Drivers = slices.DeleteFunc(slices.Clone(inv.Drivers), func(d inventory.Driver) bool { return d.Object == a.Object })
	inv.Proxies = slices.DeleteFunc(slices.Clone(inv.Proxies), func(p inventory.Proxy) bool { return p.Object == a.Object })
}

// WaitRollout waits until every pod of a DaemonSet is of its newest revision.
type WaitRollout struct {
	Object   inventory.Object
	Strategy string
}

func (a WaitRollout) write(r *record) {
	r.say("wait-rollout", "wait until every pod of %s is of its newest revision and ready", a.Object)
	r.Object = a.Object.String()
	rollout(r, a.Object, a.Strategy)
}

// Apply finishes it.
func (a WaitRollout) Apply(inv *inventory.Inventory) {
	if d := driver(inv, a.Object); d != nil {
		settled(inv, d)
	}
}

// rollout waits for the pods. Those of an OnDelete DaemonSet change when they are
// deleted, one at a time.
func rollout(r *record, o inventory.Object, strategy string) {
	if strategy != "OnDelete" {
		r.wait("oc", in(o), "rollout", "status", kindOf(o)+"/"+o.Name, "--timeout=30m")
		return
	}
	r.Interrupts = "its update strategy is OnDelete: the pods are deleted one at a time, and on that node new volumes can't be mounted until the new pod is ready"
	get := r.line("oc", in(o), "get", kindOf(o), o.Name)
	ns := r.line(in(o)...)
	r.Wait = append(r.Wait, `selector=$(`+get+` -o go-template='{{range $k, $v := .spec.selector.matchLabels}},{{$k}}={{$v}}{{end}}') && selector=${selector#,} || exit 1
newest=$(oc `+ns+` get controllerrevisions -l "$selector" --sort-by=.revision -o jsonpath='{.items[-1:].metadata.labels.controller-revision-hash}') || exit 1
for pod in $(oc `+ns+` get pods -l "$selector,controller-revision-hash!=$newest" -o name); do
  oc `+ns+` delete "$pod" || exit 1
  while sleep 5; do
    `+get+` -o go-template='{{if ge .status.numberReady .status.desiredNumberScheduled}}ready{{end}}' | grep -x ready >/dev/null && break
  done
done`)
}
