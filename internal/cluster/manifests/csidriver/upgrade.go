package csidriver

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver/dsfacts"
)

// Change is one difference between the old DaemonSet and the new one.
type Change struct {
	// Where it is: "container vsphere-csi-node/image".
	Where string `json:"where"`
	// From and To are what it was and becomes; "" where there is none.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Why it changes.
	Why string `json:"why"`
}

// Upgrade is the way from an old DaemonSet to a folder.
type Upgrade struct {
	// From is the old version, "" where its image's tag names none.
	From string `json:"from"`
	// Back: the old version is newer than the new one.
	Back    bool     `json:"back"`
	Changes []Change `json:"changes"`
	// Kept is what the new one has of the old one that isn't usual.
	Kept []Kept `json:"kept,omitempty"`
	// Delete is the command that must come before the folder is applied, "" for
	// none; DeleteWhy says why.
	Delete    string `json:"delete,omitempty"`
	DeleteWhy string `json:"deleteWhy,omitempty"`
}

// Compare tells what a folder changes of an old DaemonSet.
func (f *Folder) Compare(cat *catalog.Catalog, old *Old) *Upgrade {
	now := f.daemonSet
	u := &Upgrade{From: old.OldVersion(), Changes: []Change{}}
	if v, err := version.ParseDriver(u.From); err == nil {
		u.Back = v.Compare(f.Version) > 0
	}
	u.Delete, u.DeleteWhy = removal(old.DaemonSet, now)
	before, after := dsfacts.Of(old.DaemonSet), dsfacts.Of(now)
	r := reasons{folder: f, line: cat.Driver(old.Driver).Line(f.Version), before: before, after: after}
	if project := old.project(cat); project != nil {
		r.project = dsfacts.Of(project)
	}
	dsfacts.Whole(before, after)
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, where := range slices.SortedFunc(maps.Keys(all), dsfacts.ByPlace) {
		if before[where] != after[where] {
			u.Changes = append(u.Changes, Change{Where: where, From: before[where], To: after[where], Why: r.of(where)})
		}
	}
	if before["pod/HostProcess"] == "" && f.HostProcess && f.hasSCC() {
		const why = "a HostProcess container is a privileged one; 03-scc.yaml binds it"
		r.given = append(r.given, why)
		u.Changes = append(u.Changes, Change{Where: "service account/SCC", To: "privileged", Why: why})
	}
	u.Kept = f.kept
	slices.SortStableFunc(u.Changes, func(a, b Change) int { return r.order(a.Why) - r.order(b.Why) })
	return u
}

func (f *Folder) hasSCC() bool {
	return slices.ContainsFunc(f.Files, func(file File) bool { return file.Name == "03-scc.yaml" })
}

// deleteCommand deletes a DaemonSet; namespace "" is the user's own.
func deleteCommand(namespace, name string) string {
	if namespace == "" {
		return "oc delete daemonset " + shell.Word(name)
	}
	return fmt.Sprintf("oc -n %s delete daemonset %s", shell.Word(namespace), shell.Word(name))
}

// removal is what must go first: a second DaemonSet of a driver can't register,
// and a DaemonSet's selector can't be changed.
func removal(old, now *appsv1.DaemonSet) (command, why string) {
	command = deleteCommand(old.Namespace, old.Name)
	switch {
	case old.Name != now.Name || old.Namespace != "" && old.Namespace != now.Namespace:
		return command, fmt.Sprintf("the new one is %s/%s, and two for one driver can't both register on a node", now.Namespace, now.Name)
	case old.Spec.Selector == nil || !reflect.DeepEqual(old.Spec.Selector, now.Spec.Selector):
		return command, "the selector of a DaemonSet can't be changed"
	}
	return "", ""
}

// order puts changes with the same reason beside each other, and those that are
// the project's and nothing more last.
func (r *reasons) order(why string) int {
	if why == r.plain() {
		return len(r.given)
	}
	return slices.Index(r.given, why)
}

// reasons tell why a fact changes.
type reasons struct {
	folder        *Folder
	line          *catalog.Line
	before, after dsfacts.Facts
	// project is what the old one would say if nobody had changed it, nil where
	// that isn't known.
	project dsfacts.Facts
	// given are the reasons so far, in order.
	given []string
}

func (r *reasons) plain() string { return "the project deploys v" + r.folder.Version.Core() + " so" }

func (r *reasons) of(where string) string {
	why := r.why(where)
	if !slices.Contains(r.given, why) {
		r.given = append(r.given, why)
	}
	return why
}

func (r *reasons) why(where string) string {
	v := "v" + r.folder.Version.Core()
	place, what, _ := strings.Cut(where, "/")
	host := r.folder.HostProcess
	switch {
	case what == "": // a whole container
		return r.changed(where)
	case what == "image" && strings.HasSuffix(place, " "+r.folder.definition.Container):
		return "the upstream version closest to what the release runs on Linux" + r.variant()
	case what == "image":
		return "what the project runs beside " + v
	case what == "HostProcess" && host && r.line.HostProcess == catalog.HostProcessMandatory:
		return v + " has no client of csi-proxy: with pipes it can't reach the node's disks"
	case what == "HostProcess" && host:
		return v + " is deployed as a HostProcess container by its project"
	case what == "HostProcess":
		return v + " is asked for with csi-proxy's pipes"
	case what == "host network":
		return "Kubernetes takes no HostProcess pod without the host's network"
	case strings.HasPrefix(what, `mount \\.\pipe\`) && host:
		return "Windows mounts no pipes in HostProcess containers"
	case strings.HasPrefix(what, `mount \\.\pipe\`):
		return "what " + v + " dials, and no more"
	case r.line.Flag != "" && what == "argument "+r.line.Flag:
		return "the flag goes with the mode"
	case r.folder.definition.why(where) != "":
		return r.folder.definition.why(where)
	case what == "runs as" || what == "command" && host:
		return "a HostProcess container runs on the node: the program and the user are named"
	}
	return r.changed(where)
}

// Reasons for what is the admin's own: what the new one doesn't have, what it has
// another value for, and what may be theirs, where the old version's manifest
// isn't known.
const (
	yours      = "yours, not in the new one: carry it over or drop it"
	yoursOther = "yours; the new one has the project's: carry your value over or drop it"
	maybeYours = "in the old one alone, and what its project deployed isn't known: carry over what is yours"
)

// changed is of what no rule speaks of: the admin's own, or the project's.
func (r *reasons) changed(where string) string {
	was, now := r.before[where], r.after[where]
	place, what, _ := strings.Cut(where, "/")
	projects := flat(r.project[where]) == flat(was) || what == "" && r.project[place+"/image"] != ""
	switch {
	case was == "" || r.project != nil && projects:
		return r.plain()
	case r.project != nil && now != "":
		return yoursOther
	case r.project != nil:
		return yours
	case now == "":
		return maybeYours
	}
	return r.plain()
}

// flat makes paths on Windows equal that differ in how they are written.
func flat(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\\`, `\`), `C:\`, `\`)
}

// variant says that the image's suffix goes with the mode.
func (r *reasons) variant() string {
	if r.line.ImageSuffix == "" || !r.folder.HostProcess {
		return ""
	}
	return ", in its image for HostProcess"
}

// Replacement is what --upgrade-from writes for a DaemonSet of which an inventory
// is known: the driver's image, and the files that come before the DaemonSet.
func Replacement(cat *catalog.Catalog, o Options, present *inventory.Driver) (image string, access []string, err error) {
	old := &Old{Driver: o.Driver, DaemonSet: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: present.Object.Namespace, Name: present.Object.Name}}}
	if d := definitionOf(o.Driver); d != nil {
		old.DaemonSet.Spec.Template.Spec.ServiceAccountName = present.ServiceAccount
		old.DaemonSet.Spec.Template.Spec.Containers = []corev1.Container{{Name: d.Container, Image: present.Image.Reference}}
	}
	o.Old, o.Namespace, o.Registry = old, old.Namespace(), old.Registry(cat)
	folder, err := Render(cat, o)
	if err != nil {
		return "", nil, err
	}
	_, _, image = folder.DaemonSet()
	return image, folder.Access(), nil
}

// PodChanges says what else than images and resources differs between the project's
// pods of two versions, of what the driver needs: its own container, the containers
// before it and the volumes. "" where nothing does, and where one isn't known.
func PodChanges(driver string, from, to version.Driver, hostProcess bool) string {
	d := definitionOf(driver)
	if d == nil || d.history(hostProcess).of(from) == 0 || d.history(hostProcess).of(to) == 0 {
		return ""
	}
	needs := func(v version.Driver) map[string]any {
		ds, err := d.daemonSet(v, hostProcess, "")
		if err != nil {
			panic(err) // a part of the program
		}
		spec := ds.Spec.Template.Spec
		c := *container(&spec, d.Container)
		first := slices.Clone(spec.InitContainers)
		for i := range first {
			first[i].Image, first[i].Resources = "", corev1.ResourceRequirements{}
		}
		return map[string]any{"arguments": append(c.Command, c.Args...), "variables": c.Env, "rights": c.SecurityContext, "commands at its end": c.Lifecycle,
			"volumes": []any{spec.Volumes, c.VolumeMounts}, "containers before it": first}
	}
	var list []string
	for _, difference := range finding.Differences(needs(from), needs(to)) {
		list = append(list, difference.Key)
	}
	return strings.Join(list, ", ")
}

// Container is the one of a DaemonSet that runs the driver; "" where bake writes none.
func Container(driver string) string {
	if d := definitionOf(driver); d != nil {
		return d.Container
	}
	return ""
}

// DaemonSet names the folder's, and the image that runs the driver.
func (f *Folder) DaemonSet() (name, namespace, image string) {
	if c := container(&f.daemonSet.Spec.Template.Spec, f.definition.Container); c != nil {
		image = c.Image
	}
	return f.daemonSet.Name, f.daemonSet.Namespace, image
}
