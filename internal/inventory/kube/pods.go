package kube

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
)

// podRecord is what is kept of a pod, or of a pod template, that has volumes.
type podRecord struct {
	object inventory.Object
	node   string
	os     string // what it asks for itself, "" for none
	// asks is what else keeps it to some nodes; nil where os tells.
	asks         *inventory.Scheduling
	runtimeClass string
	volumes      []volumeRecord
	// claims are templates of a StatefulSet: name to storage class.
	claims map[string]*string
}

type volumeRecord struct {
	name  string
	claim string
	// class is that of a generic ephemeral volume's claim.
	class  *string
	direct backing // of an inline volume
	inline bool
	at     inventory.Evidence
}

// pod takes a pod: the volumes that it uses, and the image that it runs for a
// DaemonSet. One that ended uses nothing.
func (c *Collector) pod(o inventory.Object, pod *corev1.Pod, at Locator) {
	p := podTemplate{&pod.Spec, []any{"spec"}, at}
	if c.repeated(o, inventory.Pods, func() any { return c.copyOfPod(o, p, pod) }, at) || ended(pod) {
		return
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner != nil {
		c.owned[key{pod.Namespace, owner.Kind + "/" + owner.Name}] = true
		if owner.Kind == "DaemonSet" {
			c.runs(owner.Name, pod)
		}
	}
	if c.linux[pod.Spec.NodeName] {
		return
	}
	if owner == nil || owner.Kind == "Node" { // nothing else is told of it; the node's are static
		c.plugin(o, p, pod.Name)
	}
	r := c.record(o, p, pod.Name)
	if r.os == linux && r.node != "" {
		c.linuxHomes[r.node] = true
	}
	if len(r.volumes) > 0 {
		c.pods = append(c.pods, r)
	}
	if r.node != "" && (len(r.volumes) > 0 && r.os == "" || r.os == windows) {
		c.homes[r.node] = true
	}
}

// ended tells of a pod that runs no more; what made it may make another.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (v *volumes) record(o inventory.Object, p podTemplate, name string) podRecord {
	r := podRecord{object: o, node: p.spec.NodeName, os: askedOS(p), volumes: v.of(p, name)}
	if class := p.spec.RuntimeClassName; class != nil {
		r.runtimeClass = *class
	}
	if s := scheduling(p.spec); r.os == "" && (r.runtimeClass != "" || len(s.NodeSelector)+len(s.Terms) > 0) {
		r.asks = &s
	}
	return r
}

// askedOS is the system that a pod asks for. Its image's paths and its
// tolerations ask for none: they keep it off no Linux node.
func askedOS(p podTemplate) string {
	if os, _ := scheduledOS(p); os != "" {
		return os
	}
	if o := podWindowsOptions(p); o != nil && o.HostProcess != nil && *o.HostProcess {
		return windows
	}
	return ""
}

// of lists the volumes of a pod that a CSI driver may serve. A generic
// ephemeral volume's claim bears the pod's name and the volume's:
// https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/
func (v *volumes) of(p podTemplate, pod string) []volumeRecord {
	var out []volumeRecord
	for i := range p.spec.Volumes {
		vol := &p.spec.Volumes[i]
		r := volumeRecord{name: vol.Name}
		switch {
		case vol.PersistentVolumeClaim != nil:
			r.claim = vol.PersistentVolumeClaim.ClaimName
		case vol.Ephemeral != nil:
			if pod != "" {
				r.claim = pod + "-" + vol.Name
			}
			if t := vol.Ephemeral.VolumeClaimTemplate; t != nil {
				r.class = t.Spec.StorageClassName
			}
		case vol.CSI != nil:
			r.inline, r.direct = true, backing{provisioner: vol.CSI.Driver}
		case translator.IsInlineMigratable(vol):
			plugin, err := translator.GetInTreePluginNameFromSpec(nil, vol)
			if err != nil {
				continue
			}
			r.inline, r.direct = true, backing{provisioner: csiName(plugin), inTree: plugin}
		default:
			continue
		}
		r.at = p.evidence(volumeText(r), "volumes", i)
		out = append(out, r)
	}
	return out
}

func volumeText(r volumeRecord) string {
	switch {
	case r.direct.inTree != "":
		return "inline " + r.direct.inTree
	case r.inline:
		return "inline " + r.direct.provisioner
	case r.claim != "":
		return "claim " + r.claim
	}
	return "ephemeral"
}

type runKey struct {
	set       key
	container string
	image     string // status' imageID
}

func (c *Collector) runs(set string, pod *corev1.Pod) {
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		if s.ImageID == "" {
			continue
		}
		k := runKey{key{pod.Namespace, set}, s.Name, s.ImageID}
		if c.running[k] == nil {
			c.running[k] = map[string]bool{}
		}
		c.running[k][pod.Spec.NodeName] = true
	}
}

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
