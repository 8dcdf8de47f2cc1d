package kube

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
)

// podRecord is what is kept of a pod, or of a pod template, that has volumes.
type podRecord struct {
	object  inventory.Object
	node    string
	windows bool // it says so itself
	volumes []volumeRecord
	// claims are templates of a StatefulSet: name to storage class.
	claims map[string]*string
}

// volumeRecord is one volume of a pod that a CSI driver may serve.
type volumeRecord struct {
	name  string
	claim string
	// class is that of a generic ephemeral volume's claim.
	class  *string
	direct backing // of an inline volume
	inline bool
	at     inventory.Evidence
}

// Pod takes a pod: the volumes that it uses, and the image that it runs for a
// DaemonSet. One that ended uses nothing.
func (c *Collector) Pod(pod *corev1.Pod, at Locator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := object("Pod", pod.Namespace, pod.Name)
	at = located(at, o)
	if !c.first(o, inventory.Pods, at) {
		return
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		c.owned[key{pod.Namespace, owner.Kind + "/" + owner.Name}] = true
		if owner.Kind == "DaemonSet" {
			c.runs(owner.Name, pod)
		}
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || c.linux[pod.Spec.NodeName] {
		return
	}
	p := podTemplate{&pod.Spec, []any{"spec"}, at}
	r := podRecord{object: o, node: pod.Spec.NodeName, windows: wantsWindows(p), volumes: c.volumes.of(p, pod.Name)}
	if len(r.volumes) > 0 {
		c.pods = append(c.pods, r)
	}
}

// wantsWindows tells whether a pod asks for a Windows node. Its image's paths
// and its tolerations don't: they keep it off no Linux node.
func wantsWindows(p podTemplate) bool {
	if os, _ := scheduledOS(p); os != "" {
		return os == windows
	}
	o := podWindowsOptions(p)
	return o != nil && o.HostProcess != nil && *o.HostProcess
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

// runKey is one container image that a DaemonSet's pods run.
type runKey struct {
	set       key
	container string
	image     string // status' imageID
}

// runs notes which images a pod of a DaemonSet really runs.
func (c *Collector) runs(set string, pod *corev1.Pod) {
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
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
