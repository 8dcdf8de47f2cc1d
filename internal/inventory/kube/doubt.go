package kube

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
)

// again compares a DaemonSet that is met a second time with the first.
func (c *Collector) again(o inventory.Object, ds *appsv1.DaemonSet, p podTemplate, cts []container) {
	old, isDriver := c.drivers[o]
	d, reason := c.driverOf(o, ds, p, cts)
	if isDriver == (reason == "") && reflect.DeepEqual(bare(old), bare(d)) {
		return
	}
	c.problem(inventory.Problem{
		Where: p.at(),
		What:  fmt.Sprintf("%s stands here and, otherwise, at %s; the first one was taken", o, c.seen[o]),
		Fix:   "give only the manifests that are applied to this cluster",
	})
}

// taken is what was kept of the first of two objects with one name, and where
// it was read.
type taken struct {
	where string
	kept  any
}

// CompareCopies makes Nodes, CSINodes, Pods, volumes and claims that are met
// twice a problem where they differ: files hold what was saved on several days,
// or of several clusters. In one cluster's lists an object may change between
// two pages.
func (c *Collector) CompareCopies() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare = true
}

// repeated tells whether o was met before. kept is what the model keeps of it,
// without where it was read.
func (c *Collector) repeated(o inventory.Object, r inventory.Resource, kept func() any, at Locator) bool {
	again := !c.first(o, r, at)
	switch old := c.copies[o]; {
	case !c.compare:
	case !again:
		c.copies[o] = taken{at(), kept()}
	case !reflect.DeepEqual(old.kept, kept()):
		c.problem(inventory.Problem{
			Where: at(),
			What:  fmt.Sprintf("%s stands here and, otherwise, at %s; the first one was taken", o, old.where),
			Fix:   "give it once, as the cluster has it now: kubectl get " + strings.ToLower(o.Kind) + " " + o.Name + inNamespace(o) + " -o yaml",
		})
	}
	return again
}

func inNamespace(o inventory.Object) string {
	if o.Namespace == "" {
		return ""
	}
	return " -n " + o.Namespace
}

// podCopy is what is kept of a pod, with what decides whether it is.
type podCopy struct {
	podRecord
	ended  bool
	owner  string
	images map[string]string
}

func (c *Collector) copyOfPod(o inventory.Object, p podTemplate, pod *corev1.Pod) podCopy {
	if ended(pod) {
		return podCopy{ended: true}
	}
	kept := podCopy{podRecord: c.record(o, p, pod.Name)}
	for i := range kept.volumes {
		kept.volumes[i].at = inventory.Evidence{}
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return kept
	}
	if kept.owner = owner.Kind + "/" + owner.Name; owner.Kind == "DaemonSet" {
		kept.images = map[string]string{}
		for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
			kept.images[s.Name] = s.ImageID
		}
	}
	return kept
}

// bare is d without where its facts were read.
func bare(d inventory.Driver) inventory.Driver {
	d.Evidence, d.Version.At = nil, inventory.Evidence{}
	d.Pipes, d.Unmounted = barePipes(d.Pipes), barePipes(d.Unmounted)
	if d.Registrar != nil {
		r := *d.Registrar
		r.Version.At = inventory.Evidence{}
		d.Registrar = &r
	}
	return d
}

func barePipes(pipes []inventory.Pipe) []inventory.Pipe {
	out := make([]inventory.Pipe, len(pipes))
	for i, p := range pipes {
		out[i] = inventory.Pipe{Group: p.Group, Version: p.Version, Container: p.Container}
	}
	return out
}

// checkWhole tells of a manifest that isn't whole.
func (c *Collector) checkWhole(o inventory.Object, p podTemplate) {
	if lack, path := p.lack(); lack != "" {
		c.problem(inventory.Problem{
			Where: p.at(path...),
			What:  fmt.Sprintf("%s %s: the manifest is cut off, or a patch", o, lack),
			Fix:   "give the whole manifest, as it is applied",
		})
	}
}

// lack looks for what a truncated manifest and a patch have, and what the API
// server would refuse: a container without an image, a mount of a volume that
// the pod doesn't declare. It is "" for a whole pod.
func (p podTemplate) lack() (string, []any) {
	volumes := map[string]bool{}
	for _, v := range p.spec.Volumes {
		volumes[v.Name] = true
	}
	for ct, path := range p.lasting() {
		for j, m := range ct.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Sprintf("mounts the volume %q, which it doesn't declare", m.Name), below(path, "volumeMounts", j)
			}
		}
		if ct.Image == "" {
			return fmt.Sprintf("has a container %q without an image", ct.Name), path
		}
	}
	return "", nil
}
