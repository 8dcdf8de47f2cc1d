package kube

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"

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
		out[i] = inventory.Pipe{Group: p.Group, Version: p.Version}
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
	for i, ct := range p.spec.Containers {
		for j, m := range ct.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Sprintf("mounts the volume %q, which it doesn't declare", m.Name), p.path("containers", i, "volumeMounts", j)
			}
		}
		if ct.Image == "" {
			return fmt.Sprintf("has a container %q without an image", ct.Name), p.path("containers", i)
		}
	}
	return "", nil
}
