package precheck

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	port     = 8080
	portName = "metrics"
)

// A cluster of 5000 nodes takes some 110 MB (docs/performance.md). The Go
// runtime works harder before it meets the limit.
const (
	memoryRequest = "64Mi"
	memoryLimit   = "512Mi"
	memorySoft    = "400MiB"
)

// deployment runs one pod. It's no CronJob: what a pod that has ended found out
// no Prometheus can read, and a change would wait for the next run.
func (o *Options) deployment() *appsv1.Deployment {
	one, surge, none := int32(1), intstr.FromInt32(1), intstr.FromInt32(0)
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta(o.Namespace),
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: labels()},
			// The next one has evaluated before the last one goes.
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &none}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels()}, Spec: o.pod()},
		},
	}
}

// pod keeps to Pod Security's level restricted. It names no user: OpenShift
// chooses one, elsewhere the image does.
func (o *Options) pod() corev1.PodSpec {
	yes, no := true, false
	return corev1.PodSpec{
		ServiceAccountName: name,
		NodeSelector:       map[string]string{corev1.LabelOSStable: "linux"},
		SecurityContext:    &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{
			Name: "verify", Image: o.Image, Args: o.args(),
			Env:   []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: memorySoft}},
			Ports: []corev1.ContainerPort{{Name: portName, ContainerPort: port}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse(memoryRequest)},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memoryLimit)},
			},
			LivenessProbe:  probe("/healthz"),
			ReadinessProbe: probe("/readyz"),
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}

func probe(path string) *corev1.Probe {
	return &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString(portName)}}}
}

func service(ns string) *corev1.Service {
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta(ns),
		Spec: corev1.ServiceSpec{Selector: labels(), Ports: []corev1.ServicePort{{Name: portName, Port: port, TargetPort: intstr.FromString(portName)}}},
	}
}
