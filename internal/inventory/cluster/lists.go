package cluster

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winbake/winbake/internal/inventory"
)

// sets are the label selectors of DaemonSets, by which their pods are found.
type sets map[types.NamespacedName]string

func (r *reader) readDaemonSets(ctx context.Context) error {
	r.sets = sets{}
	p := pager[*appsv1.DaemonSetList, appsv1.DaemonSet, *appsv1.DaemonSet]{
		r: r, what: "daemonsets", options: r.paged(), list: r.apps.DaemonSets("").List,
		items: func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items },
		take: func(d *appsv1.DaemonSet) {
			r.sets[types.NamespacedName{Namespace: d.Namespace, Name: d.Name}] = metav1.FormatLabelSelector(d.Spec.Selector)
			r.c.DaemonSet(d, nil)
		},
	}
	return r.cover(inventory.DaemonSets, p.read(ctx))
}

func (r *reader) readCSINodes(ctx context.Context) error {
	p := pages(r, "csinodes", r.storage.CSINodes().List,
		func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items },
		func(n *storagev1.CSINode) { r.c.CSINode(n, nil) })
	return r.cover(inventory.CSINodes, p.read(ctx))
}

func (r *reader) readVolumes(ctx context.Context) error {
	p := pages(r, "persistentvolumes", r.core.PersistentVolumes().List,
		func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items },
		func(v *corev1.PersistentVolume) { r.c.PersistentVolume(v, nil) })
	return r.cover(inventory.Volumes, p.read(ctx))
}

func (r *reader) readClaims(ctx context.Context) error {
	p := pages(r, "persistentvolumeclaims", r.core.PersistentVolumeClaims("").List,
		func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items },
		func(v *corev1.PersistentVolumeClaim) { r.c.PersistentVolumeClaim(v, nil) })
	return r.cover(inventory.Claims, p.read(ctx))
}

func (r *reader) readClasses(ctx context.Context) error {
	p := pages(r, "", r.storage.StorageClasses().List,
		func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items },
		func(s *storagev1.StorageClass) { r.c.StorageClass(s, nil) })
	return r.note(access{resource: "storageclasses.storage.k8s.io"}, p.read(ctx))
}

// spaces are the namespaces that there are.
type spaces struct {
	names map[string]bool
	// read: these are all.
	read bool
}

// lacks tells whether a namespace is known not to be there.
func (s spaces) lacks(name string) bool { return s.read && !s.names[name] }

// readNamespaces reads labels alone: the Pod Security level is one.
func (r *reader) readNamespaces(ctx context.Context) error {
	r.spaces.names = map[string]bool{}
	p := r.metadataPager(corev1.SchemeGroupVersion.WithResource("namespaces"), func(m *metav1.PartialObjectMetadata) {
		r.spaces.names[m.Name] = true
		r.c.Namespace(&corev1.Namespace{ObjectMeta: m.ObjectMeta}, nil)
	})
	err := p.read(ctx)
	r.spaces.read = err == nil
	return r.cover(inventory.Namespaces, err)
}

// readConfigMaps reads WMCO's lists of services in one namespace. To a user who
// may not list there, a namespace that isn't there is forbidden all the same.
func (r *reader) readConfigMaps(ctx context.Context, namespace string) error {
	if r.spaces.lacks(namespace) {
		return nil
	}
	p := pager[*corev1.ConfigMapList, corev1.ConfigMap, *corev1.ConfigMap]{
		r: r, options: r.paged(), list: r.core.ConfigMaps(namespace).List,
		items: func(l *corev1.ConfigMapList) []corev1.ConfigMap { return l.Items },
		take: func(m *corev1.ConfigMap) {
			if strings.HasPrefix(m.Name, servicesPrefix) {
				r.c.ConfigMap(m, nil)
			}
		},
	}
	return p.read(ctx)
}

func (r *reader) paged() metav1.ListOptions { return metav1.ListOptions{Limit: r.o.PageSize} }
