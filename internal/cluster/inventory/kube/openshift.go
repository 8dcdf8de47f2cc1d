package kube

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// ServerVersion notes the API server's version, "v1.32.9+abcdef".
func (c *Collector) ServerVersion(version string, at inventory.Evidence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inv.Cluster.Kubernetes = version
	c.evidence(at.Where, at.Text)
}

// NotOpenShift notes that the API server has no ClusterVersion.
func (c *Collector) NotOpenShift() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.other = cmp.Or(c.other, inventory.Unmarked)
}

func (c *Collector) evidence(where, text string) {
	c.inv.Cluster.Evidence = append(c.inv.Cluster.Evidence, inventory.Evidence{Where: where, Text: text})
}

// podSecurity is what the labels of Pod Security admission begin with.
const podSecurity = "pod-security.kubernetes.io/"

// labelSync is the label by which OpenShift sets those labels itself, or not:
// https://github.com/openshift/cluster-policy-controller/tree/master/pkg/psalabelsyncer
const labelSync = "security.openshift.io/scc.podSecurityLabelSync"

func (c *Collector) namespace(_ inventory.Object, ns *corev1.Namespace, at Locator) {
	c.inv.Cluster.Namespaces = append(c.inv.Cluster.Namespaces, inventory.Namespace{
		Name: ns.Name, Enforce: ns.Labels[podSecurity+"enforce"], Audit: ns.Labels[podSecurity+"audit"],
		Warn: ns.Labels[podSecurity+"warn"], Sync: ns.Labels[labelSync], At: inventory.Evidence{Where: at("metadata", "labels")},
	})
}

// clusterVersion reads the newest completed update, and the one under way.
// The history's first entry is the newest.
func (c *Collector) clusterVersion(_ inventory.Object, object *fields, at Locator) {
	o, cl := *object, &c.inv.Cluster
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
	cl.ID, cl.Channel, cl.Channels = text(o, "spec", "clusterID"), text(o, "spec", "channel"), texts(list(o, "status", "desired", "channels"))
	// One in both lists has conditions that don't hold for this cluster.
	recommended := texts(list(o, "status", "availableUpdates"), "version")
	cl.Available = recommended
	for i, update := range list(o, "status", "conditionalUpdates") {
		r := risk(update)
		if r.Release == "" || slices.Contains(recommended, r.Release) {
			continue
		}
		r.At = inventory.Evidence{Where: at("status", "conditionalUpdates", i), Text: r.Release}
		cl.Conditional, cl.Available = append(cl.Conditional, r), append(cl.Available, r.Release)
	}
	cl.Available = sortedSet(cl.Available)
	for i, condition := range list(o, "status", "conditions") {
		cl.Conditions = append(cl.Conditions, inventory.Condition{
			Type: text(condition, "type"), Status: text(condition, "status"), Reason: text(condition, "reason"), Message: text(condition, "message"),
			At: inventory.Evidence{Where: at("status", "conditions", i, "status"), Text: text(condition, "type") + "=" + text(condition, "status")},
		})
	}
}

func risk(update any) inventory.Risk {
	r := inventory.Risk{Release: text(update, "release", "version")}
	for _, one := range list(update, "risks") {
		if name := text(one, "name"); name != "" {
			r.Names = append(r.Names, name)
		}
		r.Message, r.URL = cmp.Or(r.Message, text(one, "message")), cmp.Or(r.URL, text(one, "url"))
	}
	for _, c := range list(update, "conditions") {
		if text(c, "type") == "Recommended" {
			r.Unknown, r.Message = text(c, "status") == "Unknown", cmp.Or(r.Message, text(c, "message"))
			if reason := text(c, "reason"); len(r.Names) == 0 && reason != "" {
				r.Names = []string{reason}
			}
		}
	}
	return r
}

// texts are the texts that stand under path in each of a list.
func texts(all []any, path ...string) []string {
	var out []string
	for _, one := range all {
		out = append(out, text(one, path...))
	}
	return sortedSet(out)
}

// sortedSet sorts, and drops what is empty or there twice.
func sortedSet(all []string) []string {
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

func (c *Collector) clusterCSIDriver(o inventory.Object, object *fields, at Locator) {
	state := text(*object, "spec", "managementState")
	c.inv.Cluster.CSIDrivers = append(c.inv.Cluster.CSIDrivers, inventory.ClusterCSIDriver{
		Name: o.Name, Management: state, At: inventory.Evidence{Where: at("spec", "managementState"), Text: state},
	})
}

func (c *Collector) pool(o inventory.Object, object *fields, at Locator) {
	paused, _ := value(*object, "spec", "paused").(bool)
	c.inv.Cluster.Pools = append(c.inv.Cluster.Pools, inventory.Pool{
		Name: o.Name, Paused: paused, Machines: number(*object, "status", "machineCount"), Updated: number(*object, "status", "updatedMachineCount"),
		At: inventory.Evidence{Where: at("spec", "paused"), Text: fmt.Sprintf("paused: %t", paused)},
	})
}

func (c *Collector) infrastructure(_ inventory.Object, object *fields, at Locator) {
	path, platform := []any{"status", "platformStatus", "type"}, text(*object, "status", "platformStatus", "type")
	if platform == "" {
		path, platform = []any{"status", "platform"}, text(*object, "status", "platform")
	}
	if platform != "" {
		c.inv.Cluster.Platform = platform
		c.evidence(at(path...), platform)
	}
	c.inv.Cluster.Topology = text(*object, "status", "controlPlaneTopology")
}

// csv takes WMCO's ClusterServiceVersion; OLM copies it into every namespace
// that it is for.
func (c *Collector) csv(of inventory.Object, object *fields, at Locator) {
	o := *object
	if text(o, "metadata", "labels", "olm.copiedFrom") != "" || text(o, "status", "reason") == "Copied" {
		return
	}
	phase := text(o, "status", "phase")
	c.wmcoIs(of.Name, &inventory.ClusterServiceVersion{
		Object: of, Phase: phase, Reason: text(o, "status", "reason"), Message: text(o, "status", "message"), At: inventory.Evidence{Where: at("status", "phase"), Text: phase},
	}, inventory.Evidence{Where: at("metadata", "name"), Text: of.Name})
}

// value is what is deep in o; nil for nothing.
func value(o any, path ...string) any {
	for _, key := range path {
		m, _ := o.(fields)
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
