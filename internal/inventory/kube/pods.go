package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
)

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
	if c.systems[pod.Spec.NodeName] == linux {
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
