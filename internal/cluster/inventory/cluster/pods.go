package cluster

import (
	"context"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// running leaves out pods that have ended.
const running = "status.phase!=Succeeded,status.phase!=Failed"

// readPods reads the pods of Windows nodes, those that aren't scheduled, and
// those of drivers on Linux, which run the images that count. Where the nodes
// aren't known, or most of them run Windows, it reads all.
func (r *reader) readPods(ctx context.Context) error {
	// One request for each Windows node is less work than pages of all pods, up to a third.
	if r.nodes.read && len(r.nodes.windows)*3 < r.nodes.all {
		err := r.readSomePods(ctx)
		if !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			return r.cover(inventory.Pods, err)
		}
	}
	return r.cover(inventory.Pods, r.podPager("", running).read(ctx))
}

// readSomePods reads what isn't scheduled first, so that a pod that is
// scheduled meanwhile is met on its node.
func (r *reader) readSomePods(ctx context.Context) error {
	pending := r.podPager("", "spec.nodeName=,"+running)
	pending.fromMemory("0")
	if err := pending.read(ctx); err != nil {
		return err
	}
	var work []func(context.Context) error
	for _, d := range r.c.Inventory().Drivers {
		selector := r.sets[types.NamespacedName{Namespace: d.Object.Namespace, Name: d.Object.Name}]
		if d.OS == "windows" || selector == "" {
			continue
		}
		work = append(work, func(ctx context.Context) error {
			p := r.podPager(d.Object.Namespace, running)
			p.what, p.options.LabelSelector = "pods of "+d.Object.String(), selector
			return p.read(ctx)
		})
	}
	var done atomic.Int64
	for _, name := range slices.Sorted(slices.Values(r.nodes.windows)) {
		work = append(work, func(ctx context.Context) error {
			p := r.podPager("", fields.OneTermEqualSelector("spec.nodeName", name).String()+","+running)
			p.what = ""
			p.fromMemory(pending.version)
			if err := p.read(ctx); err != nil {
				return err
			}
			r.tell("nodes' pods", done.Add(1), int64(len(r.nodes.windows)))
			return nil
		})
	}
	return inParallel(ctx, work...)
}

// fromMemory lets the server answer with what it has in memory, if that is no
// older than a version that it told before; any answers "0". There it has an
// index of pods by node, which it uses for nothing else up to Kubernetes 1.30:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
//
// A version from an answer that wasn't from memory can be newer than all pods,
// and a server where no pod changes would wait for it in vain.
func (p *pager) fromMemory(since string) {
	p.options.Limit = 0
	p.options.ResourceVersion, p.options.ResourceVersionMatch = since, metav1.ResourceVersionMatchNotOlderThan
}

func (r *reader) podPager(namespace, selector string) *pager {
	p := r.pager("pods", of(r.core.Pods(namespace).List), add[corev1.Pod](r, "v1", "Pod"))
	p.options.FieldSelector = selector
	return p
}

// readNodes reads Windows nodes whole, and of Linux nodes, which are the most
// and whose status lists all their images, the metadata. The label is one that
// every kubelet sets; of a node without it only the status tells.
func (r *reader) readNodes(ctx context.Context) error {
	err := r.readLinuxNodes(ctx)
	for _, selector := range []string{corev1.LabelOSStable + "=windows", corev1.LabelOSStable + " notin (windows,linux)"} {
		if err == nil {
			err = r.readWholeNodes(ctx, selector)
		}
	}
	r.nodes.read = err == nil
	return r.cover(inventory.Nodes, err)
}

func (r *reader) readLinuxNodes(ctx context.Context) error {
	p := r.pager("nodes (Linux)", of(r.metadata.Resource(corev1.SchemeGroupVersion.WithResource("nodes")).List), func(m metav1.Object) {
		r.nodes.all++
		kube.Take(r.c, "v1", "Node", &corev1.Node{ObjectMeta: m.(*metav1.PartialObjectMetadata).ObjectMeta}) //nolint:forcetypeassert // of the metadata client
	})
	p.options.LabelSelector = corev1.LabelOSStable + "=linux"
	return p.read(ctx)
}

// readWholeNodes takes every node that may run Windows for one that does: it
// costs one more request for its pods.
func (r *reader) readWholeNodes(ctx context.Context, selector string) error {
	p := r.pager("nodes", of(r.core.Nodes().List), func(o metav1.Object) {
		n := o.(*corev1.Node) //nolint:forcetypeassert // the list is of them
		r.nodes.all++
		kube.Take(r.c, "v1", "Node", n)
		if n.Status.NodeInfo.OperatingSystem != "linux" {
			r.nodes.windows = append(r.nodes.windows, n.Name)
		}
	})
	p.options.LabelSelector = selector
	return p.read(ctx)
}
