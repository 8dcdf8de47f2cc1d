package csidriver

import (
	"cmp"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// stripDefaults takes out of a DaemonSet what the API server fills in, so that
// one of a cluster compares with one of a file:
// https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/apis/core/v1/defaults.go.
func stripDefaults(ds *appsv1.DaemonSet) {
	unset(&ds.Spec.RevisionHistoryLimit, 10)
	stripStrategy(&ds.Spec.UpdateStrategy)
	spec := &ds.Spec.Template.Spec
	drop(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	drop(&spec.DNSPolicy, corev1.DNSClusterFirst)
	drop(&spec.SchedulerName, corev1.DefaultSchedulerName)
	unset(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	spec.ServiceAccountName = cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = ""
	for i := range spec.Volumes {
		stripVolume(&spec.Volumes[i])
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			stripContainer(&list[i], spec.HostNetwork)
		}
	}
}

func stripStrategy(u *appsv1.DaemonSetUpdateStrategy) {
	if r := u.RollingUpdate; r != nil {
		unset(&r.MaxUnavailable, intstr.FromInt32(1))
		unset(&r.MaxSurge, intstr.FromInt32(0))
		unset(&u.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
	}
	if u.RollingUpdate == nil {
		drop(&u.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	}
}

func stripVolume(v *corev1.Volume) {
	if v.HostPath != nil {
		unset(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Secret != nil {
		unset(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if v.ConfigMap != nil {
		unset(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if v.Projected != nil {
		unset(&v.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	}
}

func stripContainer(c *corev1.Container, hostNetwork bool) {
	drop(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	drop(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	drop(&c.ImagePullPolicy, corev1.PullIfNotPresent)
	for i := range c.Ports {
		p := &c.Ports[i]
		drop(&p.Protocol, corev1.ProtocolTCP)
		if hostNetwork {
			drop(&p.HostPort, p.ContainerPort)
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			drop(&from.FieldRef.APIVersion, "v1")
		}
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		stripProbe(p)
	}
	// What has a limit and no request gets the limit for one.
	if len(c.Resources.Limits) > 0 {
		requests := maps.Clone(c.Resources.Limits)
		maps.Copy(requests, c.Resources.Requests)
		c.Resources.Requests = requests
	}
}

func stripProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	drop(&p.TimeoutSeconds, 1)
	drop(&p.PeriodSeconds, 10)
	drop(&p.SuccessThreshold, 1)
	drop(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		drop(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
	}
}

// drop empties a field that has its default.
func drop[T comparable](field *T, usual T) {
	if *field == usual {
		var none T
		*field = none
	}
}

// unset is drop for a field that is a pointer.
func unset[T comparable](field **T, usual T) {
	if *field != nil && **field == usual {
		*field = nil
	}
}
