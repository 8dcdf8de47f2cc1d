package kube

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/winbake/winbake/internal/inventory"
)

// clusterVersions is what is joined at the end about the cluster.
type clusterVersions struct {
	wmco []wmcoFact
}

// ServerVersion notes the API server's version, "v1.32.9+abcdef".
func (c *Collector) ServerVersion(version string, at inventory.Evidence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inv.Cluster.Kubernetes = version
	c.evidence(at.Where, at.Text)
}

func (c *Collector) evidence(where, text string) {
	c.inv.Cluster.Evidence = append(c.inv.Cluster.Evidence, inventory.Evidence{Where: where, Text: text})
}

// podSecurity is what the labels of Pod Security admission begin with.
const podSecurity = "pod-security.kubernetes.io/"

// labelSync is the label by which OpenShift sets those labels itself, or not:
// https://github.com/openshift/cluster-policy-controller/tree/master/pkg/psalabelsyncer
const labelSync = "security.openshift.io/scc.podSecurityLabelSync"

// Namespace takes a namespace's Pod Security levels.
func (c *Collector) Namespace(ns *corev1.Namespace, at Locator) {
	o, at := c.begin("Namespace", ns, at)
	defer c.mu.Unlock()
	if !c.first(o, inventory.Namespaces, at) {
		return
	}
	c.inv.Cluster.Namespaces = append(c.inv.Cluster.Namespaces, inventory.Namespace{
		Name: ns.Name, Enforce: ns.Labels[podSecurity+"enforce"], Audit: ns.Labels[podSecurity+"audit"],
		Warn: ns.Labels[podSecurity+"warn"], Sync: ns.Labels[labelSync], At: inventory.Evidence{Where: at("metadata", "labels")},
	})
}

// Custom takes an object whose type isn't in k8s.io/api: ClusterVersion,
// Infrastructure, Storage and ClusterCSIDriver (operator.openshift.io),
// MachineConfigPool and ClusterServiceVersion. Any other is left.
func (c *Collector) Custom(o map[string]any, at Locator) {
	kind := text(o, "kind")
	obj, at := c.begin(kind, &unstructured.Unstructured{Object: o}, at)
	defer c.mu.Unlock()
	switch group, _, _ := strings.Cut(text(o, "apiVersion"), "/"); group + "/" + kind {
	case "config.openshift.io/ClusterVersion":
		if c.first(obj, inventory.ClusterVersion, at) {
			c.clusterVersion(o, at)
		}
	case "config.openshift.io/Infrastructure":
		c.platform(o, at)
	case "operator.openshift.io/Storage":
		if v := text(o, "spec", "vsphereStorageDriver"); v != "" {
			c.inv.Cluster.VSphereStorageDriver = v
			c.evidence(at("spec", "vsphereStorageDriver"), v)
		}
	case "operator.openshift.io/ClusterCSIDriver":
		if c.first(obj, inventory.CSIDrivers, at) {
			c.csiDriver(o, obj.Name, at)
		}
	case "machineconfiguration.openshift.io/MachineConfigPool":
		if c.first(obj, inventory.Pools, at) {
			c.pool(o, obj.Name, at)
		}
	case "operators.coreos.com/ClusterServiceVersion":
		c.csv(o, at)
	}
}

// clusterVersion reads the newest completed update, and the one under way.
// The history's first entry is the newest.
func (c *Collector) clusterVersion(o map[string]any, at Locator) {
	cl := &c.inv.Cluster
	for i, h := range list(o, "status", "history") {
		v, state := text(h, "version"), text(h, "state")
		if state == "Completed" {
			cl.OpenShift = v
			c.evidence(at("status", "history", i, "version"), v)
			break
		}
		if cl.Updating == "" {
			cl.Updating = v
			c.evidence(at("status", "history", i, "version"), v+" ("+state+")")
		}
	}
	cl.Channel, cl.Channels = text(o, "spec", "channel"), texts(list(o, "status", "desired", "channels"))
	cl.Conditional = versions(list(o, "status", "conditionalUpdates"), "release", "version")
	cl.Available = versions(list(o, "status", "availableUpdates"), "version")
	cl.Available = sortedSet(slices.Concat(cl.Available, cl.Conditional))
	for i, condition := range list(o, "status", "conditions") {
		cl.Conditions = append(cl.Conditions, inventory.Condition{
			Type: text(condition, "type"), Status: text(condition, "status"), Reason: text(condition, "reason"), Message: text(condition, "message"),
			At: inventory.Evidence{Where: at("status", "conditions", i, "status"), Text: text(condition, "type") + "=" + text(condition, "status")},
		})
	}
}

// versions are the texts that stand under path in each of a list.
func versions(all []any, path ...string) []string {
	var out []string
	for _, one := range all {
		out = append(out, text(one, path...))
	}
	return sortedSet(out)
}

func texts(all []any) []string {
	var out []string
	for _, one := range all {
		s, _ := one.(string)
		out = append(out, s)
	}
	return sortedSet(out)
}

// sortedSet sorts, and drops what is empty or there twice.
func sortedSet(all []string) []string {
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

func (c *Collector) csiDriver(o map[string]any, name string, at Locator) {
	state := text(o, "spec", "managementState")
	c.inv.Cluster.CSIDrivers = append(c.inv.Cluster.CSIDrivers, inventory.ClusterCSIDriver{
		Name: name, Management: state, At: inventory.Evidence{Where: at("spec", "managementState"), Text: state},
	})
}

func (c *Collector) pool(o map[string]any, name string, at Locator) {
	paused, _ := value(o, "spec", "paused").(bool)
	c.inv.Cluster.Pools = append(c.inv.Cluster.Pools, inventory.Pool{
		Name: name, Paused: paused, Machines: number(o, "status", "machineCount"), Updated: number(o, "status", "updatedMachineCount"),
		At: inventory.Evidence{Where: at("spec", "paused"), Text: fmt.Sprintf("paused: %t", paused)},
	})
}

func (c *Collector) platform(o map[string]any, at Locator) {
	for _, path := range [][]string{{"status", "platformStatus", "type"}, {"status", "platform"}} {
		if v := text(o, path...); v != "" {
			c.inv.Cluster.Platform = v
			c.evidence(at(anys(path)...), v)
			return
		}
	}
}

// csv takes WMCO's ClusterServiceVersion; OLM copies it into every namespace
// that it is for.
func (c *Collector) csv(o map[string]any, at Locator) {
	if text(o, "metadata", "labels", "olm.copiedFrom") != "" || text(o, "status", "reason") == "Copied" {
		return
	}
	phase := text(o, "status", "phase")
	name := text(o, "metadata", "name")
	c.wmcoIs(name, phase == "" || phase == "Succeeded", inventory.Evidence{Where: at("metadata", "name"), Text: name})
}

// value is what is deep in o; nil for nothing.
func value(o any, path ...string) any {
	for _, key := range path {
		m, ok := o.(map[string]any)
		if !ok {
			return nil
		}
		o = m[key]
	}
	return o
}

func text(o any, path ...string) string {
	s, _ := value(o, path...).(string)
	return s
}

func list(o any, path ...string) []any {
	l, _ := value(o, path...).([]any)
	return l
}

// number is a whole number deep in o; 0 where there is none. JSON's decoders
// give it several types.
func number(o any, path ...string) int {
	switch n := value(o, path...).(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

func anys(path []string) []any {
	out := make([]any, len(path))
	for i, p := range path {
		out[i] = p
	}
	return out
}
