package kube

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/shell"
)

// adder decodes one kind and takes it.
type adder func(c *Collector, decode func(into any) error, at Locator) error

func typed[T any](take func(*Collector, *T, Locator)) adder {
	return func(c *Collector, decode func(into any) error, at Locator) error {
		var o T
		if err := decode(&o); err != nil {
			return err
		}
		take(c, &o, at)
		return nil
	}
}

func custom(c *Collector, decode func(into any) error, at Locator) error {
	o := map[string]any{}
	if err := decode(&o); err != nil {
		return err
	}
	c.Custom(o, at)
	return nil
}

// adders are the kinds that are wanted, by group and kind. The version doesn't
// count: old ones (extensions/v1beta1) decode the same as far as it matters.
var adders = map[string]adder{
	"apps/DaemonSet":                         typed((*Collector).DaemonSet),
	"extensions/DaemonSet":                   typed((*Collector).DaemonSet),
	"apps/Deployment":                        typed((*Collector).Deployment),
	"extensions/Deployment":                  typed((*Collector).Deployment),
	"apps/StatefulSet":                       typed((*Collector).StatefulSet),
	"apps/ReplicaSet":                        typed((*Collector).ReplicaSet),
	"batch/Job":                              typed((*Collector).Job),
	"batch/CronJob":                          typed((*Collector).CronJob),
	"apps.openshift.io/DeploymentConfig":     typed((*Collector).deploymentConfig),
	"/ReplicationController":                 typed((*Collector).deploymentConfig),
	"/Pod":                                   typed((*Collector).Pod),
	"/Node":                                  typed((*Collector).Node),
	"/PersistentVolume":                      typed((*Collector).PersistentVolume),
	"/PersistentVolumeClaim":                 typed((*Collector).PersistentVolumeClaim),
	"/ConfigMap":                             typed((*Collector).ConfigMap),
	"/Namespace":                             typed((*Collector).Namespace),
	"storage.k8s.io/CSINode":                 typed((*Collector).CSINode),
	"storage.k8s.io/StorageClass":            typed((*Collector).StorageClass),
	"node.k8s.io/RuntimeClass":               typed((*Collector).RuntimeClass),
	"config.openshift.io/ClusterVersion":     custom,
	"config.openshift.io/Infrastructure":     custom,
	"operator.openshift.io/Storage":          custom,
	"operator.openshift.io/ClusterCSIDriver": custom,
	"machineconfiguration.openshift.io/MachineConfigPool": custom,
	"operators.coreos.com/ClusterServiceVersion":          custom,
}

func find(apiVersion, kind string) adder {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	return adders[group+"/"+kind]
}

// Wants tells whether objects of a kind are worth decoding.
func (c *Collector) Wants(apiVersion, kind string) bool { return find(apiVersion, kind) != nil }

// Misplaced tells of a kind that is wanted, under a version that no API server
// has it in: "apps/v1" for DaemonSet in v1. Groups with a dot are somebody's
// own and may have a Node or a Pod too. "" is nothing wrong.
func (c *Collector) Misplaced(apiVersion, kind string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if grouped && strings.Contains(group, ".") || c.Wants(apiVersion, kind) {
		return ""
	}
	for _, home := range []string{"", "apps", "batch", "storage.k8s.io"} {
		if adders[home+"/"+kind] != nil {
			return strings.TrimPrefix(home+"/v1", "/")
		}
	}
	return ""
}

// WantsNamed narrows Wants by the object's name: of all ConfigMaps and
// ClusterServiceVersions few matter, and the others are large.
func (c *Collector) WantsNamed(apiVersion, kind, name string) bool {
	switch kind {
	case "ConfigMap":
		if !wantsConfigMap(name) {
			return false
		}
	case "ClusterServiceVersion":
		if !strings.HasPrefix(name, wmcoName) {
			return false
		}
	}
	return c.Wants(apiVersion, kind)
}

// Add takes one object. decode fills a type of k8s.io/api, or a map[string]any
// for a kind that isn't in it; it isn't called for a kind that nobody wants.
// The error is decode's own.
func (c *Collector) Add(apiVersion, kind string, decode func(into any) error, at Locator) error {
	add := find(apiVersion, kind)
	if add == nil {
		return nil
	}
	return add(c, decode, at)
}

// object names what was read; kind is given because typed objects of a list
// leave theirs out.
func object(kind, namespace, name string) inventory.Object {
	return inventory.Object{Kind: kind, Namespace: namespace, Name: name}
}

// begin locks c for an object that is taken: the caller unlocks it.
func (c *Collector) begin(kind string, of metav1.Object, at Locator) (inventory.Object, Locator) {
	c.mu.Lock()
	o := object(kind, of.GetNamespace(), of.GetName())
	if at == nil {
		at = ObjectLocator(o)
	}
	return o, at
}

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

// barePod tells of a pod that no DaemonSet or other workload made that is told
// of itself.
func barePod(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner == nil || owner.Kind == "Node" // a static pod
}

// Meant is the kind that was meant by one that no API server has: Daemonset,
// daemonset, DaemonSets. "" for any other.
func (c *Collector) Meant(apiVersion, kind string) string {
	if c.Wants(apiVersion, kind) {
		return ""
	}
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	for name := range adders {
		home, meant, _ := strings.Cut(name, "/")
		if home == group && slices.ContainsFunc([]string{meant, meant + "s"}, func(s string) bool { return strings.EqualFold(s, kind) }) {
			return meant
		}
	}
	return ""
}
