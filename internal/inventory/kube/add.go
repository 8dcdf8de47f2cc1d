package kube

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
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
