package kube

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

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

// Namespace takes a namespace's Pod Security level.
func (c *Collector) Namespace(ns *corev1.Namespace, at Locator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := object("Namespace", "", ns.Name)
	if !c.first(o, "", located(at, o)) {
		return
	}
	c.inv.Cluster.Namespaces = append(c.inv.Cluster.Namespaces, ns.Name)
	// https://kubernetes.io/docs/concepts/security/pod-security-admission/
	if ns.Labels["pod-security.kubernetes.io/enforce"] == "privileged" {
		c.inv.Cluster.PrivilegedNamespaces = append(c.inv.Cluster.PrivilegedNamespaces, ns.Name)
	}
}

// Custom takes an object whose type isn't in k8s.io/api: ClusterVersion,
// Infrastructure, Storage (operator.openshift.io) and ClusterServiceVersion.
// Any other is left.
func (c *Collector) Custom(o map[string]any, at Locator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := text(o, "kind")
	obj := object(kind, text(o, "metadata", "namespace"), text(o, "metadata", "name"))
	at = located(at, obj)
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
	for _, u := range list(o, "status", "availableUpdates") {
		cl.Available = append(cl.Available, text(u, "version"))
	}
	for _, u := range list(o, "status", "conditionalUpdates") {
		cl.Available = append(cl.Available, text(u, "release", "version"))
	}
	slices.Sort(cl.Available)
	cl.Available = slices.DeleteFunc(slices.Compact(cl.Available), func(v string) bool { return v == "" })
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

// text is a string deep in o; "" where there is none.
func text(o any, path ...string) string {
	for _, key := range path {
		m, ok := o.(map[string]any)
		if !ok {
			return ""
		}
		o = m[key]
	}
	s, _ := o.(string)
	return s
}

// list is a list deep in o.
func list(o any, path ...string) []any {
	for _, key := range path {
		m, ok := o.(map[string]any)
		if !ok {
			return nil
		}
		o = m[key]
	}
	l, _ := o.([]any)
	return l
}

func anys(path []string) []any {
	out := make([]any, len(path))
	for i, p := range path {
		out[i] = p
	}
	return out
}
