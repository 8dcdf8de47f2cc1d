package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winbake/winbake/internal/inventory"
)

// running leaves out pods that have ended.
const running = "status.phase!=Succeeded,status.phase!=Failed"

// readPods reads the pods of Windows nodes, those that aren't scheduled, and
// those of drivers on Linux, which run the images that count. Where the nodes
// aren't known, or most of them run Windows, it reads all.
func (r *reader) readPods(ctx context.Context) error {
	var err error
	if r.nodes.read && r.perNode() {
		err = r.readSomePods(ctx)
	} else {
		err = r.podPager("", running).read(ctx)
	}
	return r.cover(inventory.Pods, err)
}

// perNode tells whether one request for each Windows node is less work than
// pages of all pods.
func (r *reader) perNode() bool { return len(r.nodes.windows)*3 < r.nodes.all }

func (r *reader) readSomePods(ctx context.Context) error {
	// First, so that a pod that is scheduled meanwhile is met on its node.
	pending := r.podPager("", "spec.nodeName=,"+running)
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
	for i, name := range slices.Sorted(slices.Values(r.nodes.windows)) {
		work = append(work, func(ctx context.Context) error {
			return r.readPodsOf(ctx, name, pending.version, i)
		})
	}
	return inParallel(ctx, work...)
}

// readPodsOf reads the pods of one node. Servers keep an index of pods by node
// in memory, but up to 1.30 use it only where an answer from memory will do:
// then the answer must be no older than since, a version of the list of pods.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
func (r *reader) readPodsOf(ctx context.Context, node, since string, done int) error {
	p := r.podPager("", fields.OneTermEqualSelector("spec.nodeName", node).String()+","+running)
	p.what = ""
	p.options.Limit = 0
	p.options.ResourceVersion, p.options.ResourceVersionMatch = since, metav1.ResourceVersionMatchNotOlderThan
	if err := p.read(ctx); err != nil {
		return err
	}
	r.tell("nodes' pods", int64(done+1), int64(len(r.nodes.windows)))
	return nil
}

func (r *reader) podPager(namespace, selector string) *pager[*corev1.PodList, corev1.Pod, *corev1.Pod] {
	p := &pager[*corev1.PodList, corev1.Pod, *corev1.Pod]{
		r: r, what: "pods", options: r.paged(), list: r.typed.CoreV1().Pods(namespace).List,
		items: func(l *corev1.PodList) []corev1.Pod { return l.Items },
		take:  func(pod *corev1.Pod) { r.c.Pod(pod, nil) },
	}
	p.options.FieldSelector = selector
	return p
}
