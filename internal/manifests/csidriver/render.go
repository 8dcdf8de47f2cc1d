package csidriver

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/object"
)

// Render writes the files for a driver and a release. Its errors are
// *fault.Error: no such driver or release, no version that fits, a mode that
// the version hasn't got, images that can't be named.
func Render(cat *catalog.Catalog, o Options) (*Folder, error) {
	o.Namespace = cmp.Or(o.Namespace, OperatorNamespace)
	if !object.ValidNamespace(o.Namespace) || o.Namespace == testNamespace {
		return nil, &fault.Error{What: fmt.Sprintf("%q can't be the driver's namespace", o.Namespace), Fix: "--namespace, in lower-case letters, digits and dashes; or leave it out for " + OperatorNamespace}
	}
	if o.Namespace != OperatorNamespace && object.ClustersOwn(o.Namespace) {
		return nil, &fault.Error{What: o.Namespace + " is the cluster's own, and its labels would be changed", Fix: "--namespace, one of yours or a new one; or leave it out for " + OperatorNamespace}
	}
	c, err := choose(cat, o)
	if err != nil {
		return nil, err
	}
	spec, err := c.podSpec()
	if err != nil {
		return nil, err
	}
	if !c.hostProcess {
		c.mountPipes(&spec)
	}
	if c.old != nil {
		c.keepChoices(o)
	}
	m, err := c.useImages(o, &spec)
	if err != nil {
		return nil, err
	}
	test := m.at(c.windows.image, false)
	files, err := c.files(o.Namespace, spec, test)
	if err != nil {
		return nil, err
	}
	return &Folder{Title: c.driver.Title, Version: c.version, HostProcess: c.hostProcess, container: c.shape.container, Files: files, Notes: c.notes, kept: c.kept}, nil
}

// podSpec is the pod as the project deploys that version in that mode.
func (c *choice) podSpec() (corev1.PodSpec, error) {
	spec, ok := c.shape.pod(pod{version: c.version, provisioner: c.driver.Provisioner, image: c.source(), hostProcess: c.hostProcess})
	if !ok {
		return spec, &fault.Error{What: "the manifest of " + c.name() + " for this mode wasn't looked at yet", Fix: "verify catalog " + c.driver.Name + " says where the project has it"}
	}
	return spec, nil
}

// mountPipes gives the driver's container the pipes that its line dials, those
// that it falls back on too.
func (c *choice) mountPipes(spec *corev1.PodSpec) {
	driver := container(spec, c.shape.container)
	for _, use := range c.line.API {
		for _, v := range use.Versions {
			name := "csi-proxy-" + use.Group + "-" + v
			driver.VolumeMounts = append(driver.VolumeMounts, mount(name, `\\.\pipe\`+name))
			spec.Volumes = append(spec.Volumes, hostDir(name, `\\.\pipe\`+name, corev1.HostPathUnset))
		}
	}
}

// useImages puts the mirror's images and digests in place of the projects'.
func (c *choice) useImages(o Options, spec *corev1.PodSpec) (*images, error) {
	var all []*corev1.Container
	var sources []string
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			all = append(all, &list[i])
			sources = append(sources, list[i].Image)
		}
	}
	m, err := newImages(strings.TrimSuffix(o.Registry, "/"), o.Digests, sources)
	if err != nil {
		return nil, err
	}
	done := map[string]string{}
	for i, source := range sources {
		if _, ok := done[source]; !ok {
			done[source] = m.at(source, true)
		}
		all[i].Image = done[source]
	}
	return m, m.err()
}

func (c *choice) daemonSet(namespace string, spec corev1.PodSpec) *appsv1.DaemonSet {
	name := c.daemonSetName()
	labels := map[string]string{"app": name}
	spec.ServiceAccountName = c.shape.account
	spec.PriorityClassName = "system-node-critical"
	// A node without its storage driver is no use: whatever taint it has.
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	onWindows(&spec)
	most := intstr.Parse(c.shape.maxUnavailable)
	ds := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: maps.Clone(labels)},
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: maps.Clone(labels)},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &most}},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}
	if c.old != nil {
		c.keep(ds)
	}
	return ds
}
