package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winbake/winbake/internal/inventory"
)

// object is a pointer to a Kubernetes object of type T.
type object[T any] interface {
	*T
	metav1.Object
}

// pager reads one list to its end.
type pager[L metav1.ListInterface, T any, P object[T]] struct {
	r       *reader
	what    string
	options metav1.ListOptions
	list    func(context.Context, metav1.ListOptions) (L, error)
	items   func(L) []T
	take    func(P)
	// version is that of the list's first page.
	version string
	taken   map[types.NamespacedName]bool
}

func pages[L metav1.ListInterface, T any, P object[T]](r *reader, what string, list func(context.Context, metav1.ListOptions) (L, error), items func(L) []T, take func(P)) *pager[L, T, P] {
	return &pager[L, T, P]{r: r, what: what, options: r.paged(), list: list, items: items, take: take}
}

// read takes every object of the list once. A server forgets a list that is
// read too slowly (410 Gone, after five minutes by default); then the list is
// read again from its start, once, without what was taken already.
func (p *pager[L, T, P]) read(ctx context.Context) error {
	p.taken = map[types.NamespacedName]bool{}
	err := p.pages(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		err = p.pages(ctx)
	}
	return err
}

func (p *pager[L, T, P]) pages(ctx context.Context) error {
	options := p.options
	for {
		var page L
		err := again(ctx, func() (err error) {
			page, err = p.list(ctx, options)
			return err
		})
		if err != nil {
			return err
		}
		if p.version == "" {
			p.version = page.GetResourceVersion()
		}
		p.page(page)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

func (p *pager[L, T, P]) page(page L) {
	items := p.items(page)
	for i := range items {
		o := P(&items[i])
		name := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
		if !p.taken[name] {
			p.taken[name] = true
			p.take(o)
		}
	}
	if p.what == "" {
		return
	}
	done, total := int64(len(p.taken)), int64(0)
	if left := page.GetRemainingItemCount(); left != nil {
		total = done + *left
	}
	p.r.tell(p.what, done, total)
}

// patience is for a server that restarts or is overloaded for a moment.
var patience = wait.Backoff{Steps: 3, Duration: 250 * time.Millisecond, Factor: 4}

// again calls f until it succeeds, or fails in a way that time doesn't fix.
func again(ctx context.Context, f func() error) error {
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, patience, func(context.Context) (bool, error) {
		last = f()
		if last == nil || passing(last) {
			return last == nil, nil
		}
		return false, last
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

// passing tells whether an error may be gone in a second. A timeout isn't: who
// waited a minute won't wait for two more.
func passing(err error) bool {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // client-go wraps no url.Error
		return !u.Timeout() && (utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err))
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return false
}

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
