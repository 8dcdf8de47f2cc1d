package kube

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// CompareCopies makes Nodes, CSINodes, Pods, volumes and claims that are met
// twice a problem where they differ: files hold what was saved on several days,
// or of several clusters. In one cluster's lists an object may change between
// two pages.
func (c *Collector) CompareCopies() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare = true
}

// contradictions are the copies that differ in what an answer may hang on.
func (c *Collector) contradictions() []inventory.Problem {
	var out []inventory.Problem
	for _, d := range c.differences {
		if !c.matters(d.first.kept, d.second.kept) {
			continue
		}
		o := d.object
		out = append(out, inventory.Problem{
			Where: d.second.where,
			What:  fmt.Sprintf("%s stands here and, otherwise, at %s; the first one was taken", o, d.first.where),
			Fix:   "give it once, as the cluster has it now", Command: "kubectl get " + shell.Word(strings.ToLower(o.Kind)) + " " + shell.Word(o.Name) + inNamespace(o) + " -o yaml",
		})
	}
	return out
}

// matters tells whether it changes an answer which of two copies is so: nothing
// is asked of Linux nodes and their pods but the images of drivers.
func (c *Collector) matters(first, second any) bool {
	switch a := first.(type) {
	case podCopy:
		return c.podsDiffer(a, second.(podCopy))
	case inventory.CSINode:
		return !c.onLinux(a.Name)
	case inventory.Node:
		b, isWindows := second.(inventory.Node)
		return !isWindows || !reflect.DeepEqual(a, b)
	}
	return true
}

// podsDiffer compares the images of drivers, and of what isn't on Linux the
// rest.
func (c *Collector) podsDiffer(a, b podCopy) bool {
	d, isDriver := c.drivers[inventory.Object{Kind: "DaemonSet", Namespace: a.object.Namespace, Name: strings.TrimPrefix(a.owner, "DaemonSet/")}]
	if x, y := a.images[d.Container], b.images[d.Container]; isDriver && x != "" && y != "" && x != y {
		return true
	}
	a.images, b.images = nil, nil
	return !reflect.DeepEqual(a, b) && !(c.podOnLinux(a.podRecord) && c.podOnLinux(b.podRecord))
}

func (c *Collector) podOnLinux(p podRecord) bool { return p.os == linux || c.onLinux(p.node) }

func inNamespace(o inventory.Object) string {
	if o.Namespace == "" {
		return ""
	}
	return " -n " + shell.Word(o.Namespace)
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
		return podCopy{podRecord: podRecord{object: o}, ended: true}
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
			if s.ImageID != "" {
				kept.images[s.Name] = s.ImageID
			}
		}
	}
	return kept
}

// sameDriver compares what is kept of two copies. One from Git has no status,
// which contradicts none, and nothing of what its owner adds in the cluster.
func sameDriver(a, b inventory.Driver) bool {
	if a.Rollout == nil || b.Rollout == nil {
		a.Rollout, b.Rollout = nil, nil
		a.Deleting, b.Deleting = false, false
	}
	a.Owners, b.Owners = nil, nil
	x, _ := json.Marshal(a.Paths) // without where they were read
	y, _ := json.Marshal(b.Paths)
	return string(x) == string(y) && reflect.DeepEqual(bare(a), bare(b))
}

// bare is d without where its facts were read.
func bare(d inventory.Driver) inventory.Driver {
	d.Evidence, d.Version.At, d.Call, d.Paths = nil, inventory.Evidence{}, inventory.Call{}, inventory.Paths{}
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
