package precheck

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watched is a resource whose changes matter at once, and that changes seldom.
// Pods, claims and volumes change all day on a cluster at work, and wait for
// the interval.
type watched struct {
	resource schema.GroupVersionResource
	options  metav1.ListOptions
	// whole: the object is read, and not its metadata alone.
	whole bool
	// mark is what of an object matters: an object whose mark stays hasn't
	// changed.
	mark func(metav1.Object) string
}

var resources = []watched{
	// The drivers: every change of a spec is a new generation.
	{resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"},
		mark: func(o metav1.Object) string { return fmt.Sprint(o.GetGeneration(), o.GetLabels()) }},
	// A driver that registers, or goes.
	{resource: schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
		mark: metav1.Object.GetResourceVersion},
	// Windows nodes that come, go or are configured. Heartbeats change the
	// status alone; Linux nodes are only counted.
	{resource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"},
		options: metav1.ListOptions{LabelSelector: "kubernetes.io/os!=linux"},
		mark:    func(o metav1.Object) string { return fmt.Sprint(o.GetLabels(), o.GetAnnotations()) }},
	// The updates that are offered.
	{resource: schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"},
		options: metav1.ListOptions{FieldSelector: "metadata.name=version"}, whole: true, mark: offers},
}

// offers are a ClusterVersion's releases. The rest of its status changes all the
// time.
func offers(o metav1.Object) string {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o.GetResourceVersion()
	}
	var mark string
	for _, field := range []string{"history", "availableUpdates", "conditionalUpdates"} {
		list, _, err := unstructured.NestedSlice(u.Object, "status", field)
		mark += fmt.Sprint(field, err)
		for _, item := range list {
			m, _ := item.(map[string]any)
			release, _ := m["release"].(map[string]any)
			mark += fmt.Sprint(" ", m["version"], m["state"], release["version"])
		}
	}
	return mark
}

// Watch is what Options.Watch wants, for a cluster. Its errors are those of
// credentials and addresses that no client can be made of.
func Watch(config *rest.Config) (func(ctx context.Context, changed func(), state func(resource string, err error)), error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0 // a watch goes on
	config.WarningHandler = rest.NoWarnings{}
	names, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return func(ctx context.Context, changed func(), state func(string, error)) {
		// client-go logs to standard error, where only package console writes.
		ctx = klog.NewContext(ctx, logr.Discard())
		var all sync.WaitGroup
		for _, w := range resources {
			all.Go(func() {
				tell := func(err error) {
					if ctx.Err() == nil {
						state(w.resource.Resource, err)
					}
				}
				w.run(ctx, w.source(names, objects, tell), changed)
			})
		}
		all.Wait()
	}, nil
}

// source lists and watches, and tells how that goes.
func (w *watched) source(names metadata.Interface, objects dynamic.Interface, tell func(error)) *lister {
	list := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return names.Resource(w.resource).List(ctx, o)
	}
	open := func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		return names.Resource(w.resource).Watch(ctx, o)
	}
	if w.whole {
		list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return objects.Resource(w.resource).List(ctx, o)
		}
		open = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return objects.Resource(w.resource).Watch(ctx, o)
		}
	}
	selected := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector, o.FieldSelector = w.options.LabelSelector, w.options.FieldSelector
		return o
	}
	return &lister{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			all, err := list(ctx, selected(o))
			if err != nil {
				tell(err) // that it was listed doesn't say that it's watched
			}
			return all, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := open(ctx, selected(o))
			tell(err)
			return events, err
		},
	}}
}

// lister never asks for a list as a stream of events: which of the rights list
// and watch that takes depends on the server's release.
type lister struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is how client-go asks.
func (*lister) IsWatchListSemanticsUnSupported() bool { return true }

// run lists and watches until ctx is done, with client-go's own patience where
// the server doesn't answer.
func (w *watched) run(ctx context.Context, from cache.ListerWatcher, changed func()) {
	var expected any = &metav1.PartialObjectMetadata{}
	if w.whole {
		expected = &unstructured.Unstructured{}
	}
	s := &marks{of: w.mark, changed: changed, seen: map[string]string{}}
	cache.NewReflectorWithOptions(from, expected, s, cache.ReflectorOptions{
		Name: w.resource.Resource, TypeDescription: w.resource.Resource, MinWatchTimeout: 10 * time.Minute,
	}).RunWithContext(ctx)
}

// marks keeps of each object what matters, and tells when that changes. It's one
// reflector's, which calls it from one goroutine.
type marks struct {
	of      func(metav1.Object) string
	changed func()
	seen    map[string]string
}

// Add, Update, Delete, Replace and Resync make marks a cache.ReflectorStore.
func (m *marks) Add(object any) error {
	o, ok := object.(metav1.Object)
	if !ok {
		return fmt.Errorf("watch: %T is no object", object)
	}
	key, mark := o.GetNamespace()+"/"+o.GetName(), m.of(o)
	if old, known := m.seen[key]; !known || old != mark {
		m.changed()
	}
	m.seen[key] = mark
	return nil
}

// Update is Add.
func (m *marks) Update(object any) error { return m.Add(object) }

// Delete forgets an object.
func (m *marks) Delete(object any) error {
	if o, ok := object.(metav1.Object); ok {
		delete(m.seen, o.GetNamespace()+"/"+o.GetName())
	}
	m.changed()
	return nil
}

// Replace takes a list: the first, or one after a gap in which anything may have
// happened.
func (m *marks) Replace(objects []any, _ string) error {
	gone := m.seen
	m.seen = make(map[string]string, len(objects))
	for _, object := range objects {
		o, ok := object.(metav1.Object)
		if !ok {
			return fmt.Errorf("watch: %T is no object", object)
		}
		m.seen[o.GetNamespace()+"/"+o.GetName()] = m.of(o)
	}
	if !maps.Equal(gone, m.seen) {
		m.changed()
	}
	return nil
}

// Resync has nothing to do.
func (m *marks) Resync() error { return nil }
