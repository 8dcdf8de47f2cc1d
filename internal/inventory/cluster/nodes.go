package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winbake/winbake/internal/inventory"
)

// nodes is what reading pods needs to know of them.
type nodes struct {
	windows []string
	all     int
	// read: both numbers are right.
	read bool
}

type metadataPager = pager[*metav1.PartialObjectMetadataList, metav1.PartialObjectMetadata, *metav1.PartialObjectMetadata]

// metadataPager lists objects without spec and status.
func (r *reader) metadataPager(resource schema.GroupVersionResource, take func(*metav1.PartialObjectMetadata)) *metadataPager {
	return &metadataPager{
		r: r, options: r.paged(), list: r.metadata.Resource(resource).List, take: take,
		items: func(l *metav1.PartialObjectMetadataList) []metav1.PartialObjectMetadata { return l.Items },
	}
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
	p := r.metadataPager(corev1.SchemeGroupVersion.WithResource("nodes"), func(m *metav1.PartialObjectMetadata) {
		r.nodes.all++
		r.c.Node(&corev1.Node{ObjectMeta: m.ObjectMeta}, nil)
	})
	p.what = "nodes (Linux)"
	p.options.LabelSelector = corev1.LabelOSStable + "=linux"
	return p.read(ctx)
}

// readWholeNodes takes every node that may run Windows for one that does: it
// costs one more request for its pods.
func (r *reader) readWholeNodes(ctx context.Context, selector string) error {
	p := pager[*corev1.NodeList, corev1.Node, *corev1.Node]{
		r: r, what: "nodes", options: r.paged(), list: r.core.Nodes().List,
		items: func(l *corev1.NodeList) []corev1.Node { return l.Items },
		take: func(n *corev1.Node) {
			r.nodes.all++
			r.c.Node(n, nil)
			if n.Status.NodeInfo.OperatingSystem != "linux" {
				r.nodes.windows = append(r.nodes.windows, n.Name)
			}
		},
	}
	p.options.LabelSelector = selector
	return p.read(ctx)
}
