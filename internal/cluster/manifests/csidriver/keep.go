package csidriver

import (
	"cmp"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver/dsfacts"
)

// Old is a DaemonSet that is to be replaced.
type Old struct {
	// Driver is the catalog's name of what it runs.
	Driver    string
	DaemonSet *appsv1.DaemonSet
}

// Kept is what the new DaemonSet has of the old one.
type Kept struct {
	Where string `json:"where"`
	What  string `json:"what"`
	Why   string `json:"why"`
}

const (
	keptChoice = "kept of the old one; --mode, --namespace and --registry say otherwise"
	keptPlace  = "kept of the old one, so that its pods are replaced node by node"
	keptOwn    = "kept, as it's yours"
)

// Namespace is the old DaemonSet's, "" where it names none.
func (o *Old) Namespace() string { return o.DaemonSet.Namespace }

// inPlace tells whether the new DaemonSet can take the old one's place without a
// gap: in its namespace, under its name and with its selector, which is the one field
// that can't be changed.
func (o *Old) inPlace(namespace string) bool {
	ds := &o.DaemonSet.ObjectMeta
	return ds.Name != "" && (ds.Namespace == "" || ds.Namespace == namespace)
}

// Registry is the mirror that the old DaemonSet's image comes from, "" for none
// and for one that keeps no path.
func (o *Old) Registry(cat *catalog.Catalog) string {
	driver := cat.Driver(o.Driver)
	repository, _ := o.image()
	if repository == "" || driver.Publishes(repository) {
		return ""
	}
	for _, p := range driver.Published {
		for _, known := range slices.Concat([]string{p.Repository}, p.Also, p.Former) {
			_, inside, _ := strings.Cut(known, "/")
			mirror, ok := strings.CutSuffix(repository, "/"+inside)
			if ok && inside != "" && path.Base(mirror) != path.Base(inside) {
				return mirror
			}
		}
	}
	return ""
}

// image of the driver, without its digest; both are "" for none.
func (o *Old) image() (repository, tag string) {
	c := container(&o.DaemonSet.Spec.Template.Spec, definitionOf(o.Driver).Container)
	if c == nil {
		return "", ""
	}
	image, _, _ := strings.Cut(c.Image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon], image[colon+1:]
	}
	return image, ""
}

// OldVersion is the version in the old DaemonSet's tag, "" where it names none.
func (o *Old) OldVersion() string {
	_, tag := o.image()
	v, err := version.ParseDriver(tag)
	if err != nil {
		return ""
	}
	return v.Core()
}

// mode is how the old DaemonSet reaches the node, "" where it doesn't show.
func (o *Old) mode() Mode {
	spec := &o.DaemonSet.Spec.Template.Spec
	if c := spec.SecurityContext; c != nil && dsfacts.IsHostProcess(c.WindowsOptions) {
		return HostProcess
	}
	for i := range spec.Containers {
		if c := spec.Containers[i].SecurityContext; c != nil && dsfacts.IsHostProcess(c.WindowsOptions) {
			return HostProcess
		}
	}
	if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && strings.Contains(v.HostPath.Path, "csi-proxy")
	}) {
		return Pipes
	}
	return ""
}

// keepsMode tells whether the version can run as the old DaemonSet does.
func (c *choice) keepsMode() bool {
	if c.old == nil {
		return false
	}
	switch c.old.mode() {
	case HostProcess:
		return c.line.HostProcess != catalog.HostProcessNone && c.driver.Publication(c.version, true) != nil
	case Pipes:
		return c.canPipe() && c.fits() && c.driver.Publication(c.version, false) != nil
	case Auto: // no pod shows that
	}
	return false
}

// keepChoices says what of the old DaemonSet was taken instead of the usual.
func (c *choice) keepChoices(o Options) {
	projects := c.line.HostProcess == catalog.HostProcessDefault || c.line.HostProcess == catalog.HostProcessMandatory
	if mode := c.old.mode(); o.Mode == "" && c.keepsMode() && (mode == HostProcess) != projects {
		c.kept = append(c.kept, Kept{"mode", string(mode), keptChoice})
	}
	if o.Namespace != OperatorNamespace && o.Namespace == c.old.Namespace() {
		c.kept = append(c.kept, Kept{"namespace", o.Namespace, keptChoice})
	}
	mirror := c.old.Registry(c.catalog)
	if mirror != "" && mirror == strings.TrimSuffix(o.Registry, "/") {
		c.kept = append(c.kept, Kept{"registry", mirror, keptChoice})
	}
	if repository, _ := c.old.image(); repository != "" && mirror == "" && !c.driver.Publishes(repository) && o.Registry == "" {
		c.note("The old image comes from %s, which doesn't end in the path of its source; the new ones come from the projects' own registries. --registry names a mirror.", repository)
	}
	if spec := c.old.DaemonSet.Spec.Template.Spec; o.Digests == nil && slices.ContainsFunc(spec.Containers, func(ct corev1.Container) bool { return strings.Contains(ct.Image, "@sha256:") }) {
		c.note("The old images are pinned by digest, the new ones have tags: --digest-file pins them.")
	}
}

// keep carries over what an admin sets in a DaemonSet and no version of the
// driver has an opinion of.
func (c *choice) keep(now *appsv1.DaemonSet) {
	was := dsfacts.Bare(c.old.DaemonSet)
	project := c.old.project(c.catalog)
	if c.old.inPlace(now.Namespace) {
		c.keepPlace(was, now)
	}
	before := dsfacts.Of(now)
	keepLabels(&now.Labels, was.Labels)
	keepLabels(&now.Annotations, was.Annotations)
	keepLabels(&now.Spec.Template.Labels, was.Spec.Template.Labels)
	keepLabels(&now.Spec.Template.Annotations, was.Spec.Template.Annotations)
	if s := c.old.DaemonSet.Spec.UpdateStrategy; s.Type != "" && (project == nil || !reflect.DeepEqual(was.Spec.UpdateStrategy, project.Spec.UpdateStrategy)) {
		now.Spec.UpdateStrategy = s
	}
	from, to := &was.Spec.Template.Spec, &now.Spec.Template.Spec
	for label, value := range from.NodeSelector {
		if _, set := to.NodeSelector[label]; !set {
			to.NodeSelector[label] = value
		}
	}
	to.ImagePullSecrets, to.Affinity = from.ImagePullSecrets, from.Affinity
	to.HostAliases, to.DNSConfig = from.HostAliases, from.DNSConfig
	if len(from.Tolerations) > 0 {
		to.Tolerations = withWMCOs(from.Tolerations)
	}
	to.PriorityClassName = cmp.Or(from.PriorityClassName, to.PriorityClassName)
	if project != nil {
		keepResources(from, &project.Spec.Template.Spec, to)
	}
	after := dsfacts.Of(now)
	for _, where := range slices.SortedFunc(maps.Keys(after), dsfacts.ByPlace) {
		if before[where] != after[where] {
			c.kept = append(c.kept, Kept{where, after[where], keptOwn})
		}
	}
}

// keepPlace makes the new DaemonSet one that the API server takes for the old one's
// next version. Its pods keep their service account: that one works, and the folder
// gives it the rights that are new.
func (c *choice) keepPlace(was, now *appsv1.DaemonSet) {
	usual, account := now.Name, now.Spec.Template.Spec.ServiceAccountName
	now.Name = was.Name
	if was.Spec.Selector != nil {
		now.Spec.Selector = was.Spec.Selector
		for _, labels := range []map[string]string{now.Labels, now.Spec.Template.Labels} {
			delete(labels, "app")
			maps.Copy(labels, was.Spec.Selector.MatchLabels)
		}
	}
	if was.Name != usual {
		c.kept = append(c.kept, Kept{"name", was.Name, keptPlace})
	}
	if own := was.Spec.Template.Spec.ServiceAccountName; own != "" && own != account {
		now.Spec.Template.Spec.ServiceAccountName = own
		c.kept = append(c.kept, Kept{"service account", own, keptPlace})
	}
}

// wmcos is the toleration of the taint that WMCO's machines have.
var wmcos = corev1.Toleration{Key: "os", Operator: corev1.TolerationOpEqual, Value: "Windows", Effect: corev1.TaintEffectNoSchedule}

// withWMCOs are an old DaemonSet's tolerations and WMCO's: the manifests of Azure's
// and SMB's projects lack it, and such a pod goes to no node of a machine set.
func withWMCOs(list []corev1.Toleration) []corev1.Toleration {
	taint := &corev1.Taint{Key: wmcos.Key, Value: wmcos.Value, Effect: wmcos.Effect}
	if slices.ContainsFunc(list, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), taint, false) }) {
		return list
	}
	return append(slices.Clone(list), wmcos)
}

// keepResources keeps those of containers that the project had others for.
func keepResources(from, project, to *corev1.PodSpec) {
	for i := range to.Containers {
		c := &to.Containers[i]
		was, usual := container(from, c.Name), container(project, c.Name)
		if was == nil || usual == nil || len(was.Resources.Limits)+len(was.Resources.Requests) == 0 {
			continue
		}
		if dsfacts.Text(was.Resources) != dsfacts.Text(usual.Resources) {
			c.Resources = was.Resources
		}
	}
}

// keepLabels adds labels or annotations that aren't there yet.
func keepLabels(to *map[string]string, from map[string]string) {
	for key, value := range from {
		if _, set := (*to)[key]; set || dsfacts.IsTools(key) {
			continue
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[key] = value
	}
}

// project is the DaemonSet that the old one would be if nobody had changed it:
// what is written for its version and mode. nil where either isn't known.
func (o *Old) project(cat *catalog.Catalog) *appsv1.DaemonSet {
	v, err := version.ParseDriver(o.OldVersion())
	mode := o.mode()
	if err != nil || mode == "" {
		return nil
	}
	c := &choice{definition: definitionOf(o.Driver), catalog: cat, driver: cat.Driver(o.Driver), version: core(v.Core()), hostProcess: mode == HostProcess}
	if c.line = c.driver.Line(c.version); c.line == nil || c.findPod() != nil {
		return nil
	}
	ds, err := c.daemonSet(OperatorNamespace, "")
	if err != nil {
		return nil
	}
	return dsfacts.Bare(ds)
}
