package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// runtimeClass takes what a class adds to its pods' scheduling. The API server
// has done so with pods; templates only name the class:
// https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling
func (c *Collector) runtimeClass(_ inventory.Object, r *nodev1.RuntimeClass, _ Locator) {
	if c.runtimeClasses[r.Name] = (inventory.Scheduling{}); r.Scheduling == nil {
		return
	}
	c.runtimeClasses[r.Name] = inventory.Scheduling{
		NodeSelector: r.Scheduling.NodeSelector, Tolerations: podtext.Tolerations(r.Scheduling.Tolerations),
	}
}

// classOf gives a DaemonSet what its class adds. It tells of a class that wasn't
// read where nothing else says which system the pods run on.
func (c *Collector) classOf(d *inventory.Driver) *inventory.Problem {
	name := c.classNames[d.Object]
	if name == "" {
		return nil
	}
	class, read := c.runtimeClasses[name]
	if !read {
		if d.OS != "" {
			return nil
		}
		return &inventory.Problem{
			Where: d.Object.String() + " spec.template.spec.runtimeClassName",
			What:  "nothing says which system its pods run on but the RuntimeClass " + printable.Clip(name) + ", which wasn't read",
			Fix:   "give the RuntimeClass too", Command: "oc get runtimeclass " + shell.Word(name) + " -o yaml",
		}
	}
	d.Scheduling = d.Scheduling.With(class)
	for _, label := range osLabels {
		if os := class.NodeSelector[label]; d.OS == "" && (os == linux || os == windows) {
			d.OS = os
			d.Evidence = append(slices.Clone(d.Evidence), inventory.Evidence{Where: "RuntimeClass " + name + " scheduling.nodeSelector", Text: label + ": " + os})
		}
	}
	return nil
}

// boundForWindows tells whether a pod that doesn't ask for a system itself goes
// to Windows all the same: its class asks, or of the nodes that were read it
// asks for some that run Windows and for none that runs Linux. Where no Linux
// node was read, it must tolerate the taint of the Windows nodes too.
func (c *Collector) boundForWindows(s inventory.Scheduling) bool {
	for _, label := range osLabels {
		if os := s.NodeSelector[label]; os != "" {
			return os == windows
		}
	}
	takes := s.Matches
	if len(c.linuxNodes) > 0 {
		takes = s.Selects
	}
	return s.NodeSelector[corev1.LabelWindowsBuild] != "" ||
		s.Chooses() && slices.ContainsFunc(c.inv.Nodes, takes) && !slices.ContainsFunc(c.linuxNodes, s.Selects)
}

// onWindows tells whether a pod runs on Windows or will.
func (c *Collector) onWindows(p podRecord) bool {
	switch {
	case c.systems[p.node] == windows:
		return true
	case c.onLinux(p.node):
		return false
	case p.asks == nil:
		return p.os == windows
	}
	return c.boundForWindows(p.asks.With(c.runtimeClasses[p.runtimeClass]))
}
