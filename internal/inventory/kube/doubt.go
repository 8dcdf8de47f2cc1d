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

// checkMounts looks for what a truncated manifest has: mounts of volumes that
// the pod doesn't declare. The API server would refuse it.
func (c *Collector) checkMounts(o inventory.Object, p podTemplate) {
	volumes := map[string]bool{}
	for _, v := range p.spec.Volumes {
		volumes[v.Name] = true
	}
	for i, ct := range p.spec.Containers {
		for j, m := range ct.VolumeMounts {
			if volumes[m.Name] {
				continue
			}
			c.problem(inventory.Problem{
				Where: p.at(p.path("containers", i, "volumeMounts", j)...),
				What:  fmt.Sprintf("%s mounts the volume %q, which it doesn't declare: the manifest is cut off, or a patch", o, m.Name),
				Fix:   "give the whole manifest, as it is applied",
			})
			return
		}
	}
}
