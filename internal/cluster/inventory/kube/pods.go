package kube

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
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
	r.runs = pod.Status.Phase == corev1.PodRunning
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
	if node, reason := podtext.Unscheduled(pod); node != "" {
		note(c.broken, brokenKey{key{pod.Namespace, set}, "its pod", reason}, node)
	}
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		if reason := stuck(&s); reason != "" {
			note(c.broken, brokenKey{key{pod.Namespace, set}, s.Name, reason}, pod.Spec.NodeName)
		}
		if s.ImageID != "" {
			note(c.running, runKey{key{pod.Namespace, set}, s.Name, s.ImageID}, pod.Spec.NodeName)
		}
	}
}

func note[K comparable](to map[K]map[string]bool, k K, node string) {
	if to[k] == nil {
		to[k] = map[string]bool{}
	}
	to[k][node] = true
}

// stuck is why a container that isn't ready doesn't get there by itself, as the kubelet
// says it; "" for one that may. A pod that is just being made waits too.
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-state-waiting
func stuck(s *corev1.ContainerStatus) string {
	wait := s.State.Waiting
	if s.Ready || wait == nil || wait.Reason == "ContainerCreating" || wait.Reason == "PodInitializing" {
		return ""
	}
	return wait.Reason
}

var templateBase = []any{"spec", "template", "spec"}

// deployment takes a Deployment's pod template, and WMCO's own version.
func (c *Collector) deployment(o inventory.Object, d *appsv1.Deployment, at Locator) {
	c.template(o, d, d.Spec.Replicas, &d.Spec.Template, templateBase, at)
	if d.Name == wmcoName {
		const owner = "olm.owner"
		c.wmcoIs(d.Labels[owner], nil, inventory.Evidence{Where: at("metadata", "labels", owner), Text: d.Labels[owner]})
	}
}

// statefulSet takes a StatefulSet's pod template and claim templates.
func (c *Collector) statefulSet(o inventory.Object, s *appsv1.StatefulSet, at Locator) {
	claims := map[string]*string{}
	for i := range s.Spec.VolumeClaimTemplates {
		t := &s.Spec.VolumeClaimTemplates[i]
		claims[t.Name] = t.Spec.StorageClassName
	}
	p := podTemplate{&s.Spec.Template.Spec, templateBase, at}
	c.volumes.workload(o, s, s.Spec.Replicas, p, claims)
	c.plugin(o, p, s.Name)
}

func (c *Collector) replicaSet(o inventory.Object, r *appsv1.ReplicaSet, at Locator) {
	c.template(o, r, r.Spec.Replicas, &r.Spec.Template, templateBase, at)
}

func (c *Collector) job(o inventory.Object, j *batchv1.Job, at Locator) {
	replicas := j.Spec.Parallelism
	if jobEnded(j) || j.Spec.Suspend != nil && *j.Spec.Suspend {
		replicas = new(int32)
	}
	c.template(o, j, replicas, &j.Spec.Template, templateBase, at)
}

// jobEnded tells of a Job that makes no more pods; one that failed has no
// completionTime.
func jobEnded(j *batchv1.Job) bool {
	return j.Status.CompletionTime != nil || slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func (c *Collector) cronJob(o inventory.Object, j *batchv1.CronJob, at Locator) {
	replicas := j.Spec.JobTemplate.Spec.Parallelism
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		replicas = new(int32)
	}
	c.template(o, j, replicas, &j.Spec.JobTemplate.Spec.Template, []any{"spec", "jobTemplate", "spec", "template", "spec"}, at)
}

func (c *Collector) replicationController(o inventory.Object, r *corev1.ReplicationController, at Locator) {
	if r.Spec.Template != nil {
		c.template(o, r, r.Spec.Replicas, r.Spec.Template, templateBase, at)
	}
}

func (c *Collector) template(o inventory.Object, meta metav1.Object, replicas *int32, t *corev1.PodTemplateSpec, base []any, at Locator) {
	p := podTemplate{&t.Spec, base, at}
	c.volumes.workload(o, meta, replicas, p, nil)
	if !ofWorkload(meta) {
		c.plugin(o, p, o.Name)
	}
}

// CountTemplates makes pod templates count as workloads where no pod of theirs
// that runs was read: in manifests the pods are often left out, and a CronJob
// has none between its runs.
func (c *Collector) CountTemplates() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.countTemplates = true
}

// Workloads is how many pod templates that ask for Windows and have volumes
// were taken, in addition to Pods.
func (c *Collector) Workloads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range c.templates {
		if c.onWindows(t) {
			n++
		}
	}
	return n
}
