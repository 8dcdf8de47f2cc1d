package csidriver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const gcpContainer = "gce-pd-driver"

// gcpPD is kubernetes-sigs/gcp-compute-persistent-disk-csi-driver,
// deploy/kubernetes/base/node_windows/node.yaml, with the registrar of
// deploy/kubernetes/images/stable-master/image.yaml: the base names no tags. The
// project's PriorityClass is its own and isn't on OpenShift.
var gcpPD = shape{
	name:           "gcp-pd",
	daemonSet:      "gcp-pd-csi-driver-node-windows",
	account:        "gcp-pd-csi-driver-node-sa",
	container:      gcpContainer,
	maxUnavailable: "1",
	pod:            gcpPod,
	rules:          []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}},
	storage:        storage{ntfs: true, wait: true, expand: true, parameters: map[string]string{"type": "pd-balanced"}},
	// kubernetes/k8s.io, registry.k8s.io/images/k8s-staging-cloud-provider-gcp/images.yaml.
	unpublished: map[string]substitute{"1.14.0": {"1.14.2", neverPublished}, "1.14.1": {"1.14.2", neverPublished}},
}

type gcpRow struct {
	seen
	registrar string
	checks    bool // the registrar is asked whether it registered
	command   bool // the program is named
	narrow    bool // mounts two of the kubelet's folders instead of all
}

var gcpRows = rows[gcpRow]{until: "1.25.0", list: []gcpRow{
	{seen: "1.7.0", registrar: "v2.5.0", checks: true},
	{seen: "1.8.2", registrar: "v2.5.0"},
	{seen: "1.10.0", registrar: "v2.7.0"},
	{seen: "1.14.0", registrar: "v2.9.3"},
	{seen: "1.18.0", registrar: "v2.9.3", command: true},
	{seen: "1.20.0", registrar: "v2.13.0", command: true},
	{seen: "1.24.0", registrar: "v2.13.0", command: true, narrow: true},
}}

func gcpPod(p pod) (corev1.PodSpec, bool) {
	row, ok := gcpRows.at(p.version)
	if !ok || p.hostProcess {
		return corev1.PodSpec{}, false
	}
	registrar := corev1.Container{
		Name: "csi-driver-registrar", Image: registrarK8s + row.registrar,
		Args:         []string{"--v=5", "--csi-address=" + socketInside, "--kubelet-registration-path=" + registrationPath(p.provisioner)},
		Env:          []corev1.EnvVar{fieldEnv("KUBE_NODE_NAME", "spec.nodeName")},
		VolumeMounts: []corev1.VolumeMount{mount(pluginVolume, "/csi"), mount(registrationVolume, "/registration")},
	}
	if row.checks {
		registrar.LivenessProbe = registrarProbe("/"+registrarExe, registrationPath(p.provisioner), times{delay: 3})
	}
	kubelet, folders := gcpFolders(row)
	driver := corev1.Container{
		Name: gcpContainer, Image: p.image,
		Args:         []string{"--v=5", "--endpoint=unix:/csi/csi.sock", "--run-controller-service=false"},
		VolumeMounts: append(kubelet, mount(pluginVolume, `C:\csi`)),
	}
	if row.command {
		driver.Command = []string{"/gce-pd-csi-driver"}
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{registrar, driver},
		Volumes: append([]corev1.Volume{
			hostDir(registrationVolume, `\var\lib\kubelet\plugins_registry`, corev1.HostPathDirectory),
			hostDir(pluginVolume, `\var\lib\kubelet\plugins\`+p.provisioner, corev1.HostPathDirectoryOrCreate),
		}, folders...),
	}, true
}

// gcpFolders are the kubelet's folders as the driver sees them.
func gcpFolders(row gcpRow) ([]corev1.VolumeMount, []corev1.Volume) {
	none := corev1.MountPropagationNone
	if !row.narrow {
		return []corev1.VolumeMount{{Name: kubeletVolume, MountPath: kubeletDir, MountPropagation: &none}},
			[]corev1.Volume{hostDir(kubeletVolume, `\var\lib\kubelet`, corev1.HostPathDirectory)}
	}
	return []corev1.VolumeMount{
			{Name: "kubelet-plugin-dir", MountPath: pluginsDir + `kubernetes.io\csi`, MountPropagation: &none},
			{Name: "kubelet-pods", MountPath: kubeletDir + `\pods`, MountPropagation: &none},
		}, []corev1.Volume{
			hostDir("kubelet-pods", `\var\lib\kubelet\pods`, corev1.HostPathUnset),
			hostDir("kubelet-plugin-dir", `\var\lib\kubelet\plugins\kubernetes.io\csi`, corev1.HostPathDirectoryOrCreate),
		}
}
