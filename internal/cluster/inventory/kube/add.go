package kube

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

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

// NewCollector makes an empty Collector.
func NewCollector(o Options) *Collector {
	return &Collector{
		known:      known{cmp.Or(o.Catalog, &catalog.Catalog{})},
		images:     o.ImageVersions,
		counts:     map[inventory.Resource]int{},
		seen:       map[inventory.Object]string{},
		drivers:    map[inventory.Object]inventory.Driver{},
		systems:    map[string]string{},
		homes:      map[string]bool{},
		linuxHomes: map[string]bool{},
		csiNodes:   map[string]inventory.CSINode{},
		running:    map[runKey]map[string]bool{},
		broken:     map[brokenKey]map[string]bool{},
		inv:        inventory.Inventory{Read: map[inventory.Resource]inventory.Coverage{}},
		volumes: volumes{
			owned: map[key]bool{}, claims: map[key]claim{}, pvs: map[string]backing{}, byClaim: map[key]string{}, classes: map[string]string{},
		},

		copies:         map[inventory.Object]taken{},
		runtimeClasses: map[string]inventory.Scheduling{},
		classNames:     map[inventory.Object]string{},
	}
}
