package kube

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// checkPlugin tells of what keeps a Windows driver's DaemonSet from doing what
// its manifest seems to say.
func (c *Collector) checkPlugin(d inventory.Driver, ds *appsv1.DaemonSet, p podTemplate) {
	o := d.Object
	if ds.DeletionTimestamp != nil {
		c.problem(inventory.Problem{
			Where: p.at("metadata", "deletionTimestamp"), What: o.String() + " is being deleted, and is judged as if it stayed",
			Fix:     "wait until it is gone; where a finalizer keeps it, see what that waits for",
			Command: "oc" + inNamespace(o) + " get daemonset " + shell.Word(o.Name) + " -o jsonpath='{.metadata.deletionTimestamp} {.metadata.finalizers}'",
		})
	}
	for _, label := range osLabels {
		if os := p.spec.NodeSelector[label]; os == windows || !strings.EqualFold(os, windows) {
			continue
		}
		c.problem(inventory.Problem{
			Where: p.at(p.path("nodeSelector", label)...), Fix: "write " + label + ": windows", Selector: o,
			What: fmt.Sprintf("%s asks for %s: %s, which no node has: labels tell capitals apart, so it runs no pod", o, label, p.spec.NodeSelector[label]),
		})
	}
	for i, v := range p.spec.Volumes {
		if v.HostPath == nil || !doubledPipe(v.HostPath.Path) {
			continue
		}
		c.problem(inventory.Problem{
			Where: p.at(p.path("volumes", i, "hostPath", "path")...),
			What:  fmt.Sprintf("%s mounts %s, and no pipe has that name: only between double quotes does YAML make one backslash of two", o, printable.Clip(v.HostPath.Path)),
			Fix:   `path: '\\.\pipe\` + v.HostPath.Path[strings.LastIndexByte(v.HostPath.Path, '\\')+1:] + `'`,
		})
	}
}

// doubledPipe tells of a csi-proxy pipe's path with backslashes that were meant
// to be halved.
func doubledPipe(path string) bool {
	_, _, isPipe := podtext.ParsePipe(path)
	return isPipe && strings.Contains(strings.TrimLeft(path, `\`), `\\`)
}

// plugin tells of a node plugin in something else than a DaemonSet: none of it
// is judged. A controller isn't one: it has no registrar.
func (c *Collector) plugin(o inventory.Object, p podTemplate, name string) {
	cts := p.containers()
	if !hasRegistrar(cts) {
		return
	}
	id, reason := c.known.identify(p, cts, name)
	if os, _ := operatingSystem(p, cts); reason != "" || os == linux {
		return
	}
	reason = fmt.Sprintf("it runs the node plugin of %s, and only DaemonSets are judged", printable.Clip(id.provisioner))
	c.inv.SetAside = append(c.inv.SetAside, inventory.SetAside{Object: o, Reason: reason, At: inventory.Evidence{Where: p.at()}})
	c.problem(inventory.Problem{
		Where: p.at(), What: o.String() + ": " + reason,
		Fix: "run it as a DaemonSet, as its project publishes it: a node plugin must be on every node that mounts its volumes",
	})
}
