package cluster

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// pager reads one list to its end.
type pager struct {
	r       *reader
	what    string // for progress, "" for none
	options metav1.ListOptions
	list    lister
	take    func(metav1.Object)
	// version is that of the list's first page.
	version string
	taken   map[types.NamespacedName]bool
}

type lister func(context.Context, metav1.ListOptions) (runtime.Object, error)

// of makes one of a client's method.
func of[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error)) lister {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) }
}

func (r *reader) pager(what string, list lister, take func(metav1.Object)) *pager {
	return &pager{r: r, what: what, options: metav1.ListOptions{Limit: r.o.PageSize}, list: list, take: take}
}

// add takes the objects of one kind as they are.
func add[T any](r *reader, apiVersion, kind string) func(metav1.Object) {
	return func(o metav1.Object) { kube.Take(r.c, apiVersion, kind, any(o).(*T)) } //nolint:forcetypeassert // the list is of them
}

// read takes every object of the list once. A server forgets a list that is
// read too slowly (410 Gone, after five minutes by default); then the list is
// read again from its start, once, without what was taken already.
func (p *pager) read(ctx context.Context) error {
	p.taken = map[types.NamespacedName]bool{}
	err := p.pages(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		err = p.pages(ctx)
	}
	return err
}

func (p *pager) pages(ctx context.Context) error {
	options := p.options
	for {
		var page runtime.Object
		err := again(ctx, func() (err error) {
			page, err = p.list(ctx, options)
			return err
		})
		if err != nil {
			return err
		}
		list, err := meta.ListAccessor(page)
		if err != nil {
			return err
		}
		p.version = cmp.Or(p.version, list.GetResourceVersion())
		if err := meta.EachListItem(page, p.item); err != nil {
			return err
		}
		if p.what != "" {
			done, total := int64(len(p.taken)), int64(0)
			if left := list.GetRemainingItemCount(); left != nil {
				total = done + *left
			}
			p.r.tell(p.what, done, total)
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

func (p *pager) item(object runtime.Object) error {
	o, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	if name := (types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}); !p.taken[name] {
		p.taken[name] = true
		p.take(o)
	}
	return nil
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
	return cmp.Or(last, err)
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
	return slices.Contains([]int32{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}, status.Status().Code)
}

// all reads all objects of a resource.
func (r *reader) all(resource inventory.Resource, what string, list lister, take func(metav1.Object)) func(context.Context) error {
	return func(ctx context.Context) error { return r.cover(resource, r.pager(what, list, take).read(ctx)) }
}

// daemonSet keeps the label selector, by which the pods are found, too.
func (r *reader) daemonSet(o metav1.Object) {
	d := o.(*appsv1.DaemonSet) //nolint:forcetypeassert // the list is of them
	r.sets[types.NamespacedName{Namespace: d.Namespace, Name: d.Name}] = metav1.FormatLabelSelector(d.Spec.Selector)
	kube.Take(r.c, "apps/v1", "DaemonSet", d)
}

func (r *reader) readClasses(ctx context.Context) error {
	p := r.pager("", of(r.storage.StorageClasses().List), add[storagev1.StorageClass](r, "storage.k8s.io/v1", "StorageClass"))
	return r.note(access{resource: "storageclasses.storage.k8s.io"}, p.read(ctx))
}

// spaces are the namespaces that there are.
type spaces struct {
	names map[string]bool
	// read: these are all.
	read bool
}

// readNamespaces reads labels alone: the Pod Security level is one.
func (r *reader) readNamespaces(ctx context.Context) error {
	r.spaces.names = map[string]bool{}
	err := r.pager("", of(r.metadata.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).List), func(m metav1.Object) {
		r.spaces.names[m.GetName()] = true
		kube.Take(r.c, "v1", "Namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.GetName(), Labels: m.GetLabels()}})
	}).read(ctx)
	r.spaces.read = err == nil
	return r.cover(inventory.Namespaces, err)
}

// readConfigMaps reads WMCO's lists of services in one namespace. To a user who
// may not list there, a namespace that isn't there is forbidden all the same.
func (r *reader) readConfigMaps(ctx context.Context, namespace string) error {
	if r.spaces.read && !r.spaces.names[namespace] {
		return nil
	}
	return r.pager("", of(r.core.ConfigMaps(namespace).List), add[corev1.ConfigMap](r, "v1", "ConfigMap")).read(ctx)
}
