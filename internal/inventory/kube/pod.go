package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/inventory"
)

// template is a pod template and where it stands in its object.
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

// container is one of the pod's containers, taken apart once.
type container struct {
	*corev1.Container
	index int
	path  []any
	image inventory.Image
	err   error // of the image reference
	words []word
}

func (p podTemplate) containers() []container {
	out := make([]container, 0, len(p.spec.Containers))
	for i := range p.spec.Containers {
		ct := &p.spec.Containers[i]
		path := p.path("containers", i)
		img, err := ParseImage(ct.Image)
		out = append(out, container{Container: ct, index: i, path: path, image: img, err: err, words: argv(ct, path)})
	}
	return out
}

// imageAt is where a container's image is written.
func (p podTemplate) imageAt(ct *container) inventory.Evidence {
	return inventory.Evidence{Where: p.at(below(ct.path, "image")...), Text: ct.Image}
}
