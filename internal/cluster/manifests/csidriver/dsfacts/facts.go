// Package dsfacts takes a DaemonSet apart into facts, a line of text each, so that two
// of them compare: one of a cluster with one of a file, one version with another.
package dsfacts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Facts are what a DaemonSet says: where it is said ("container smb/image"), and what.
type Facts map[string]string

// Of takes a DaemonSet apart, but for what names it and what it selects by.
// Whether Linux has a word in it (capabilities, seccomp) doesn't count: Windows
// has no such thing.
func Of(ds *appsv1.DaemonSet) Facts {
	ds = Bare(ds)
	f := Facts{}
	own := ds.Spec.Selector
	f.labels("daemonset/label ", ds.Labels, own)
	f.labels("daemonset/annotation ", ds.Annotations, nil)
	f.labels("pod/label ", ds.Spec.Template.Labels, own)
	f.labels("pod/annotation ", ds.Spec.Template.Annotations, nil)
	spec := &ds.Spec.Template.Spec
	f.pod(spec)
	ds.Spec.Selector, ds.Spec.Template = nil, corev1.PodTemplateSpec{}
	f.rest("daemonset/", &ds.Spec)
	return f
}

// labels are those, and annotations, but for tools' marks and the one that the
// DaemonSet finds its pods by.
func (f Facts) labels(where string, labels map[string]string, own *metav1.LabelSelector) {
	for key, value := range labels {
		if IsTools(key) || own != nil && key == "app" && own.MatchLabels[key] == value {
			continue
		}
		f.say(where+key, cmp.Or(value, "given"))
	}
}

// pod says what a pod's spec has, and takes it out of there.
func (f Facts) pod(spec *corev1.PodSpec) {
	f.say("pod/service account", spec.ServiceAccountName)
	f.say("pod/priority class", spec.PriorityClassName)
	f.say("pod/DNS policy", string(spec.DNSPolicy))
	if spec.HostNetwork {
		f.say("pod/host network", "yes")
	}
	if spec.OS != nil {
		f.say("pod/os", string(spec.OS.Name))
	}
	for label, value := range spec.NodeSelector {
		f.say("pod/node selector "+label, cmp.Or(value, "given"))
	}
	if c := spec.SecurityContext; c != nil && c.WindowsOptions != nil {
		f.windows("pod", c.WindowsOptions)
	}
	sources, mounted := map[string]string{}, map[string]bool{}
	for _, v := range spec.Volumes {
		sources[v.Name] = source(v)
	}
	for _, c := range spec.InitContainers {
		f.container("init container "+c.Name, c, sources, mounted)
	}
	for _, c := range spec.Containers {
		f.container("container "+c.Name, c, sources, mounted)
	}
	for name, from := range sources {
		if !mounted[name] {
			f.say("pod/volume "+name, from)
		}
	}
	spec.ServiceAccountName, spec.PriorityClassName, spec.DNSPolicy, spec.HostNetwork, spec.OS = "", "", "", false, nil
	spec.NodeSelector, spec.SecurityContext, spec.Volumes, spec.InitContainers, spec.Containers = nil, nil, nil, nil, nil
	f.rest("pod/", spec)
}

// rest says what is left of an object, a line for each field, under the name
// that the API has for it.
func (f Facts) rest(where string, o any) {
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(Text(o)), &fields); err != nil {
		return
	}
	prune(fields)
	for field, value := range fields {
		if word, ok := value.(string); ok {
			f.say(where+field, word)
			continue
		}
		f.say(where+field, Text(value))
	}
}

// prune drops what the types write of fields that weren't set.
func prune(fields map[string]any) {
	for field, value := range fields {
		inner, ok := value.(map[string]any)
		if ok {
			prune(inner)
		}
		if value == nil || ok && len(inner) == 0 {
			delete(fields, field)
		}
	}
}

func (f Facts) say(where, what string) {
	if what != "" {
		f[where] = what
	}
}

func (f Facts) windows(where string, o *corev1.WindowsSecurityContextOptions) {
	if IsHostProcess(o) {
		f.say(where+"/HostProcess", "yes")
	}
	if o.RunAsUserName != nil {
		f.say(where+"/runs as", *o.RunAsUserName)
	}
}

func (f Facts) container(where string, c corev1.Container, sources map[string]string, mounted map[string]bool) {
	f.say(where+"/image", c.Image)
	f.say(where+"/command", strings.Join(c.Command, " "))
	for _, a := range c.Args {
		name, value, has := strings.Cut(a, "=")
		if !has {
			value = "given"
		}
		f.say(where+"/argument "+name, strings.Trim(value, `"`))
	}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			value = Text(e.ValueFrom)
		}
		f.say(where+"/variable "+e.Name, value)
	}
	for _, m := range c.VolumeMounts {
		mounted[m.Name] = true
		f.say(where+"/mount "+m.MountPath, sources[m.Name]+access(m))
	}
	for _, p := range c.Ports {
		f.say(where+"/port "+p.Name, fmt.Sprint(p.ContainerPort))
	}
	for name, p := range map[string]*corev1.Probe{"liveness probe": c.LivenessProbe, "readiness probe": c.ReadinessProbe} {
		if p != nil {
			f.say(where+"/"+name, Text(p))
		}
	}
	if c.Lifecycle != nil {
		f.say(where+"/lifecycle", Text(c.Lifecycle))
	}
	if len(c.Resources.Limits)+len(c.Resources.Requests) > 0 {
		f.say(where+"/resources", Text(c.Resources))
	}
	if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
		f.windows(where, c.SecurityContext.WindowsOptions)
	}
	c.Name, c.Image, c.Command, c.Args, c.Env, c.VolumeMounts, c.Ports = "", "", nil, nil, nil, nil, nil
	c.LivenessProbe, c.ReadinessProbe, c.Lifecycle, c.SecurityContext = nil, nil, nil, nil
	c.Resources.Limits, c.Resources.Requests = nil, nil
	f.rest(where+"/", &c)
}

// access is how a mount differs from one of the whole volume to write to.
func access(m corev1.VolumeMount) string {
	text := ""
	if m.SubPath+m.SubPathExpr != "" {
		text += ", " + m.SubPath + m.SubPathExpr + " in it"
	}
	if m.ReadOnly {
		text += ", to read"
	}
	return text
}

func source(v corev1.Volume) string {
	switch {
	case v.HostPath != nil:
		return strings.TrimSuffix(v.HostPath.Path, `\`)
	case v.EmptyDir != nil:
		return "an empty folder"
	}
	return Text(v.VolumeSource)
}

// IsHostProcess tells whether options ask for a HostProcess container.
func IsHostProcess(o *corev1.WindowsSecurityContextOptions) bool {
	return o != nil && o.HostProcess != nil && *o.HostProcess
}

// IsTools tells whether a label or an annotation is a tool's mark on what it
// made: of another version, or no longer true of the new one. An operator's was
// copied with one of its DaemonSets, and so was the SCC of those pods.
func IsTools(key string) bool {
	switch key {
	case "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "kubectl.kubernetes.io/restartedAt", "openshift.io/required-scc", corev1.LastAppliedConfigAnnotation, appsv1.DeprecatedTemplateGeneration:
		return true
	}
	prefix, _, _ := strings.Cut(key, "/")
	return slices.Contains([]string{"helm.sh", "meta.helm.sh", "operator.openshift.io"}, prefix)
}

// ByPlace puts the DaemonSet first, then the pod, then containers, each in
// alphabet.
func ByPlace(a, b string) int {
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

func rank(where string) int {
	switch place, _, _ := strings.Cut(where, "/"); place {
	case "daemonset":
		return 0
	case "pod":
		return 1
	}
	return 2
}

// IsContainer tells a container's place from those of pod and DaemonSet.
func IsContainer(place string) bool { return place != "pod" && place != "daemonset" }

// Whole keeps of a container that only one side has no more than its image:
// that it comes or goes is the change.
func Whole(before, after Facts) {
	for _, pair := range [][2]Facts{{before, after}, {after, before}} {
		here, there := pair[0], pair[1]
		for _, where := range slices.Collect(maps.Keys(here)) {
			place, what, _ := strings.Cut(where, "/")
			if IsContainer(place) && what == "image" && there[where] == "" {
				image := here[where]
				maps.DeleteFunc(here, func(w, _ string) bool { return strings.HasPrefix(w, place+"/") })
				here[place] = image
			}
		}
	}
}
