package csidriver

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Paths on a Windows node. The doubled backslashes in arguments and variables
// are the projects' own: in a URL a single one would be taken for an escape.
const (
	kubeletDir   = `C:\var\lib\kubelet`
	pluginsDir   = kubeletDir + `\plugins\`
	registryDir  = kubeletDir + `\plugins_registry`
	socketInside = `unix://C:\\csi\\csi.sock`
	registryArg  = `C:\\var\\lib\\kubelet\\plugins_registry\\`
)

// registrationPath is where the kubelet finds the driver's socket.
func registrationPath(provisioner string) string {
	return `C:\\var\\lib\\kubelet\\plugins\\` + provisioner + `\\csi.sock`
}

// Names of volumes that several drivers share.
const (
	pluginVolume       = "plugin-dir"
	registrationVolume = "registration-dir"
	kubeletVolume      = "kubelet-dir"
)

func env(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func fieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func mount(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path}
}

func hostDir(name, path string, kind corev1.HostPathType) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}}
}

// memory are a container's resources: the processor time that it asks for, and
// the most memory it may take, "200Mi". All projects ask for 40Mi of it.
func memory(cpu, limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("40Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}
}

// times are a probe's, in seconds; 0 is Kubernetes' own.
type times struct {
	delay, timeout, period, failures int32
}

func (t times) probe(h corev1.ProbeHandler) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: h, InitialDelaySeconds: t.delay, TimeoutSeconds: t.timeout, PeriodSeconds: t.period, FailureThreshold: t.failures}
}

// healthz asks the livenessprobe container, which asks the driver.
func healthz(t times) *corev1.Probe {
	return t.probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("healthz")}})
}

func healthPort(port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: "healthz", ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

// registrarProbe runs the registrar's own check. The mode is its since 2.3.
func registrarProbe(exe, path string, t times) *corev1.Probe {
	return t.probe(corev1.ProbeHandler{Exec: &corev1.ExecAction{
		Command: []string{exe, "--kubelet-registration-path=" + path, "--mode=kubelet-registration-probe"},
	}})
}

// onHost makes the pod run on the node itself.
func onHost(spec *corev1.PodSpec) {
	yes, system := true, `NT AUTHORITY\SYSTEM`
	spec.SecurityContext = &corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: &yes, RunAsUserName: &system}}
	spec.HostNetwork = true // Kubernetes takes no HostProcess pod without
}

// container finds one by its name.
func container(spec *corev1.PodSpec, name string) *corev1.Container {
	for i := range spec.Containers {
		if spec.Containers[i].Name == name {
			return &spec.Containers[i]
		}
	}
	return nil
}

func portText(port int32) string { return strconv.Itoa(int(port)) }
