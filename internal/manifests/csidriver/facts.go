package csidriver

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// facts are what a pod says, one line of text each: where it is said, and what.
type facts map[string]string

// factsOf takes a pod apart. Whether Linux has a word in it (capabilities,
// seccomp) doesn't count: Windows has no such thing.
func factsOf(spec *corev1.PodSpec) facts {
	f := facts{}
	f.say("pod/service account", spec.ServiceAccountName)
	f.say("pod/priority class", spec.PriorityClassName)
	f.say("pod/DNS policy", string(spec.DNSPolicy))
	if spec.HostNetwork {
		f.say("pod/host network", "yes")
	}
	if spec.OS != nil {
		f.say("pod/os", string(spec.OS.Name))
	}
	if c := spec.SecurityContext; c != nil && c.WindowsOptions != nil {
		f.windows("pod", c.WindowsOptions)
	}
	sources := map[string]string{}
	for _, v := range spec.Volumes {
		sources[v.Name] = source(v)
	}
	for _, c := range spec.InitContainers {
		f.container("init container "+c.Name, c, sources)
	}
	for _, c := range spec.Containers {
		f.container("container "+c.Name, c, sources)
	}
	return f
}

func (f facts) say(where, what string) {
	if what != "" {
		f[where] = what
	}
}

func (f facts) windows(where string, o *corev1.WindowsSecurityContextOptions) {
	if o.HostProcess != nil && *o.HostProcess {
		f.say(where+"/HostProcess", "yes")
	}
	if o.RunAsUserName != nil {
		f.say(where+"/runs as", *o.RunAsUserName)
	}
}

func (f facts) container(where string, c corev1.Container, sources map[string]string) {
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
			value = text(withoutDefaults(e.ValueFrom))
		}
		f.say(where+"/variable "+e.Name, value)
	}
	for _, m := range c.VolumeMounts {
		f.say(where+"/mount "+m.MountPath, sources[m.Name])
	}
	for _, p := range c.Ports {
		f.say(where+"/port "+p.Name, fmt.Sprint(p.ContainerPort))
	}
	for name, p := range map[string]*corev1.Probe{"liveness probe": c.LivenessProbe, "readiness probe": c.ReadinessProbe} {
		if p != nil {
			f.say(where+"/"+name, text(p))
		}
	}
	if c.Lifecycle != nil {
		f.say(where+"/lifecycle", text(c.Lifecycle))
	}
	if len(c.Resources.Limits)+len(c.Resources.Requests) > 0 {
		f.say(where+"/resources", text(c.Resources))
	}
	if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
		f.windows(where, c.SecurityContext.WindowsOptions)
	}
}

// withoutDefaults drops what the API server would fill in.
func withoutDefaults(v *corev1.EnvVarSource) *corev1.EnvVarSource {
	v = v.DeepCopy()
	if v.FieldRef != nil && v.FieldRef.APIVersion == "v1" {
		v.FieldRef.APIVersion = ""
	}
	return v
}

func source(v corev1.Volume) string {
	switch {
	case v.HostPath != nil:
		return strings.TrimSuffix(v.HostPath.Path, `\`)
	case v.EmptyDir != nil:
		return "an empty folder"
	}
	return text(v.VolumeSource)
}

// text is a small object in one line. Its keys are in the types' order.
func text(o any) string {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Sprint(o)
	}
	return string(b)
}
