package kube

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
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

// workload is what is known of the object that a pod template stands in.
type workload struct {
	// idle: it makes no pods of its own (scaled to nothing, or owned by
	// another that was read too).
	idle   bool
	claims map[string]*string
}

func workloadOf(meta metav1.ObjectMeta, replicas *int32) workload {
	return workload{idle: replicas != nil && *replicas == 0 || metav1.GetControllerOfNoCopy(&meta) != nil}
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

// Deployment takes a Deployment's pod template, and WMCO's own version.
func (c *Collector) Deployment(d *appsv1.Deployment, at Locator) {
	o := object("Deployment", d.Namespace, d.Name)
	at = located(at, o)
	c.template(o, d.ObjectMeta, d.Spec.Replicas, &d.Spec.Template, templateBase, at)
	if d.Name != wmcoName {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	const owner = "olm.owner"
	name := d.Labels[owner]
	c.wmcoIs(name, true, inventory.Evidence{Where: at("metadata", "labels", owner), Text: name})
}

// StatefulSet takes a StatefulSet's pod template and claim templates.
func (c *Collector) StatefulSet(s *appsv1.StatefulSet, at Locator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := object("StatefulSet", s.Namespace, s.Name)
	at = located(at, o)
	if !c.first(o, "", at) {
		return
	}
	w := workloadOf(s.ObjectMeta, s.Spec.Replicas)
	w.claims = map[string]*string{}
	for i := range s.Spec.VolumeClaimTemplates {
		t := &s.Spec.VolumeClaimTemplates[i]
		w.claims[t.Name] = t.Spec.StorageClassName
	}
	c.volumes.workload(o, podTemplate{&s.Spec.Template.Spec, templateBase, at}, w)
}

// ReplicaSet takes the pod template of a ReplicaSet that no Deployment owns.
func (c *Collector) ReplicaSet(r *appsv1.ReplicaSet, at Locator) {
	c.template(object("ReplicaSet", r.Namespace, r.Name), r.ObjectMeta, r.Spec.Replicas, &r.Spec.Template, templateBase, at)
}

// Job takes the pod template of a Job that hasn't ended.
func (c *Collector) Job(j *batchv1.Job, at Locator) {
	replicas := j.Spec.Parallelism
	if j.Status.CompletionTime != nil {
		replicas = new(int32)
	}
	c.template(object("Job", j.Namespace, j.Name), j.ObjectMeta, replicas, &j.Spec.Template, templateBase, at)
}

// CronJob takes the pod template of a CronJob.
func (c *Collector) CronJob(j *batchv1.CronJob, at Locator) {
	base := []any{"spec", "jobTemplate", "spec", "template", "spec"}
	c.template(object("CronJob", j.Namespace, j.Name), j.ObjectMeta, nil, &j.Spec.JobTemplate.Spec.Template, base, at)
}

// deploymentConfig takes OpenShift's DeploymentConfig and a
// ReplicationController: their templates have the same shape.
func (c *Collector) deploymentConfig(r *corev1.ReplicationController, at Locator) {
	if r.Spec.Template == nil {
		return
	}
	kind := r.Kind
	if kind == "" {
		kind = "ReplicationController"
	}
	c.template(object(kind, r.Namespace, r.Name), r.ObjectMeta, r.Spec.Replicas, r.Spec.Template, templateBase, at)
}

func (c *Collector) template(o inventory.Object, meta metav1.ObjectMeta, replicas *int32, t *corev1.PodTemplateSpec, base []any, at Locator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at = located(at, o)
	if c.first(o, "", at) {
		c.volumes.workload(o, podTemplate{&t.Spec, base, at}, workloadOf(meta, replicas))
	}
}

// workload keeps a template that asks for Windows and has volumes.
func (v *volumes) workload(o inventory.Object, p podTemplate, w workload) {
	if w.idle || !wantsWindows(p) {
		return
	}
	r := podRecord{object: o, windows: true, volumes: v.of(p, ""), claims: w.claims}
	for i, m := range p.spec.Containers {
		for j, mount := range m.VolumeMounts {
			if _, ok := w.claims[mount.Name]; ok {
				at := p.evidence(mount.Name, "containers", i, "volumeMounts", j)
				r.volumes = append(r.volumes, volumeRecord{name: mount.Name, claim: mount.Name + "-" + o.Name + "-0", class: w.claims[mount.Name], at: at})
				delete(w.claims, mount.Name)
			}
		}
	}
	if len(r.volumes) > 0 {
		v.templates = append(v.templates, r)
	}
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

// CountTemplates makes pod templates count as workloads where no pod of theirs
// was read: in manifests the pods are often left out. In a cluster the pods
// are there, or there are none.
func (c *Collector) CountTemplates() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.countTemplates = true
}

// Workloads is how many pod templates that ask for Windows and have volumes
// were taken, beside Pods themselves.
func (c *Collector) Workloads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.templates)
}
