package kube

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/shell"
)

// taker is how the objects of one kind are taken, with the Collector locked.
type taker struct {
	into func() any
	// once: of an object that is met again only the first is taken. It counts for
	// resource, "" for one that nobody asks the number of.
	once     bool
	resource inventory.Resource
	take     func(c *Collector, o inventory.Object, object any, at Locator)
}

func typed[T any](take func(*Collector, inventory.Object, *T, Locator)) taker {
	return taker{
		into: func() any { return new(T) },
		take: func(c *Collector, o inventory.Object, object any, at Locator) { take(c, o, object.(*T), at) }, //nolint:forcetypeassert // made above
	}
}

func once[T any](resource inventory.Resource, take func(*Collector, inventory.Object, *T, Locator)) taker {
	t := typed(take)
	t.once, t.resource = true, resource
	return t
}

// fields are an object whose type isn't in k8s.io/api.
type fields = map[string]any

// takers are the kinds that are wanted, by group and kind. The version doesn't
// count: old ones (extensions/v1beta1) decode the same as far as it matters.
var takers = map[string]taker{
	"apps/DaemonSet":                         typed((*Collector).daemonSet),
	"extensions/DaemonSet":                   typed((*Collector).daemonSet),
	"apps/Deployment":                        once("", (*Collector).deployment),
	"extensions/Deployment":                  once("", (*Collector).deployment),
	"apps/StatefulSet":                       once("", (*Collector).statefulSet),
	"apps/ReplicaSet":                        once("", (*Collector).replicaSet),
	"batch/Job":                              once("", (*Collector).job),
	"batch/CronJob":                          once("", (*Collector).cronJob),
	"apps.openshift.io/DeploymentConfig":     once("", (*Collector).replicationController), // its template has the same shape
	"/ReplicationController":                 once("", (*Collector).replicationController),
	"/Pod":                                   typed((*Collector).pod),
	"/Node":                                  typed((*Collector).node),
	"/PersistentVolume":                      typed((*Collector).persistentVolume),
	"/PersistentVolumeClaim":                 typed((*Collector).persistentVolumeClaim),
	"/ConfigMap":                             typed((*Collector).configMap),
	"/Namespace":                             once(inventory.Namespaces, (*Collector).namespace),
	"storage.k8s.io/CSINode":                 typed((*Collector).csiNode),
	"storage.k8s.io/StorageClass":            once("", (*Collector).storageClass),
	"node.k8s.io/RuntimeClass":               once("", (*Collector).runtimeClass),
	"config.openshift.io/ClusterVersion":     once(inventory.ClusterVersion, (*Collector).clusterVersion),
	"config.openshift.io/Infrastructure":     typed((*Collector).infrastructure),
	"operator.openshift.io/Storage":          typed((*Collector).storage),
	"operator.openshift.io/ClusterCSIDriver": once(inventory.CSIDrivers, (*Collector).clusterCSIDriver),
	"machineconfiguration.openshift.io/MachineConfigPool": once(inventory.Pools, (*Collector).pool),
	"operators.coreos.com/ClusterServiceVersion":          typed((*Collector).csv),
}

// groupOf is the API group of an apiVersion, "" for the core.
func groupOf(apiVersion string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

// Wants tells whether objects of a kind are worth decoding.
func (c *Collector) Wants(apiVersion, kind string) bool {
	_, wanted := takers[groupOf(apiVersion)+"/"+kind]
	return wanted
}

// Misplaced tells of a kind that is wanted, under a version that no API server
// has it in: "apps/v1" for DaemonSet in v1. Groups with a dot are somebody's
// own and may have a Node or a Pod too. "" is nothing wrong.
func (c *Collector) Misplaced(apiVersion, kind string) string {
	if strings.Contains(groupOf(apiVersion), ".") || c.Wants(apiVersion, kind) {
		return ""
	}
	for _, home := range []string{"", "apps", "batch", "storage.k8s.io"} {
		if _, wanted := takers[home+"/"+kind]; wanted {
			return strings.TrimPrefix(home+"/v1", "/")
		}
	}
	return ""
}

// WantsNamed narrows Wants by the object's name: of all ConfigMaps and
// ClusterServiceVersions few matter, and the others are large.
func (c *Collector) WantsNamed(apiVersion, kind, name string) bool {
	switch {
	case kind == "ConfigMap" && name != adminAcks && name != adminGates && !strings.HasPrefix(name, ServicesPrefix),
		kind == "ClusterServiceVersion" && !strings.HasPrefix(name, wmcoName):
		return false
	}
	return c.Wants(apiVersion, kind)
}

// Add takes one object. decode fills a type of k8s.io/api, or a map[string]any
// for a kind that isn't in it; it isn't called for a kind that nobody wants.
// The error is decode's own. at may be nil.
func (c *Collector) Add(apiVersion, kind string, decode func(into any) error, at Locator) error {
	t, wanted := takers[groupOf(apiVersion)+"/"+kind]
	if !wanted {
		return nil
	}
	object := t.into()
	if err := decode(object); err != nil {
		return err
	}
	meta, isTyped := object.(metav1.Object)
	if !isTyped {
		meta = &unstructured.Unstructured{Object: *object.(*fields)}
	}
	o := inventory.Object{Kind: kind, Namespace: meta.GetNamespace(), Name: meta.GetName()}
	if at == nil {
		at = ObjectLocator(o)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !t.once || c.first(o, t.resource, at) {
		t.take(c, o, object, at)
	}
	return nil
}

// Take is Add of an object that is decoded already.
func Take[T any](c *Collector, apiVersion, kind string, object *T) {
	_ = c.Add(apiVersion, kind, func(into any) error { // there is no other error
		*into.(*T) = *object //nolint:forcetypeassert // the caller names the type's own kind
		return nil
	}, nil)
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

// Meant is the kind that was meant by one that no API server has: Daemonset,
// daemonset, DaemonSets. "" for any other.
func (c *Collector) Meant(apiVersion, kind string) string {
	if c.Wants(apiVersion, kind) {
		return ""
	}
	for name := range takers {
		home, meant, _ := strings.Cut(name, "/")
		if home == groupOf(apiVersion) && slices.ContainsFunc([]string{meant, meant + "s"}, func(s string) bool { return strings.EqualFold(s, kind) }) {
			return meant
		}
	}
	return ""
}
