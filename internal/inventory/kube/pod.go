package kube

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
)

type podTemplate struct {
	spec *corev1.PodSpec
	base []any
	at   Locator // of the whole object
}

// path is a field's path below the pod's spec.
func (p podTemplate) path(more ...any) []any { return below(p.base, more...) }

func (p podTemplate) evidence(text string, path ...any) inventory.Evidence {
	return inventory.Evidence{Where: p.at(p.path(path...)...), Text: text}
}

type container struct {
	*corev1.Container
	path  []any
	image inventory.Image
	err   error // of the image reference
	words []podtext.Word
}

func (p podTemplate) containers() []container {
	out := make([]container, 0, len(p.spec.Containers))
	for ct, path := range p.lasting() {
		img, err := podtext.ParseImage(ct.Image)
		out = append(out, container{Container: ct, path: path, image: img, err: err, words: podtext.Words(ct, path)})
	}
	return out
}

// lasting are the containers that run as long as the pod does, with their
// paths: init containers that restart are sidecars like the others,
// https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
func (p podTemplate) lasting() iter.Seq2[*corev1.Container, []any] {
	return func(yield func(*corev1.Container, []any) bool) {
		for i := range p.spec.Containers {
			if !yield(&p.spec.Containers[i], p.path("containers", i)) {
				return
			}
		}
		for i := range p.spec.InitContainers {
			ct := &p.spec.InitContainers[i]
			lasts := ct.RestartPolicy != nil && *ct.RestartPolicy == corev1.ContainerRestartPolicyAlways
			if lasts && !yield(ct, p.path("initContainers", i)) {
				return
			}
		}
	}
}

func (p podTemplate) imageAt(ct *container) inventory.Evidence {
	return inventory.Evidence{Where: p.at(below(ct.path, "image")...), Text: ct.Image}
}

// below makes a path under base, without touching base's array.
func below(base []any, more ...any) []any { return append(slices.Clip(base), more...) }
