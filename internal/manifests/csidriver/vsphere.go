package csidriver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	vsphereContainer = "vsphere-csi-node"
	vsphereFeatures  = "internal-feature-states.csi.vsphere.vmware.com"
)

// vsphere is kubernetes-sigs/vsphere-csi-driver,
// manifests/vanilla/vsphere-csi-driver.yaml of each tag. Its images of the
// sidecars stood in k8s.gcr.io up to 3.0, which is frozen and redirects to
// registry.k8s.io: https://kubernetes.io/blog/2023/02/06/k8s-gcr-io-freeze-announcement/.
var vsphere = shape{
	name:           "vsphere",
	daemonSet:      "vmware-vsphere-csi-driver-node-windows",
	account:        "vmware-vsphere-csi-driver-node-sa",
	container:      vsphereContainer,
	maxUnavailable: "1",
	pod:            vspherePod,
	// openshift/vmware-vsphere-csi-driver-operator,
	// assets/rbac/csi_driver_node_cluster_role.yaml.
	rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"cns.vmware.com"}, Resources: []string{"csinodetopologies"}, Verbs: []string{"create", "watch", "get", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
	},
	features: vsphereFeatures,
	storage:  storage{ntfs: true, wait: true, expand: true},
	// openshift/vmware-vsphere-csi-driver-operator, release-4.14:
	// assets/vsphere_features_config.yaml.
	openShift:    "4.14",
	openShiftWhy: "its operator switches csi-windows-support on from 4.14",
	// https://github.com/kubernetes-sigs/vsphere-csi-driver/issues/3053; the oldest
	// in registry.k8s.io is 3.1.2: kubernetes/k8s.io,
	// registry.k8s.io/images/k8s-staging-csi-vsphere/images.yaml.
	unpublished: map[string]substitute{"3.0.2": {"3.1.2", "The project's image of v%s is gone with gcr.io/cloud-provider-vsphere, which was deleted in September 2024"}},
}

type vsphereRow struct {
	seen
	registrar, probe string
	hostProcess      bool
	// unlimited: the driver isn't told how many volumes a node may have.
	unlimited bool
}

// From 3.5.0 on there is no client of csi-proxy left, so that mode and version
// go together.
var vsphereRows = rows[vsphereRow]{until: "3.8.0", list: []vsphereRow{
	{seen: "3.0.0", registrar: "v2.7.0", probe: "v2.9.0"},
	{seen: "3.1.0", registrar: "v2.8.0", probe: "v2.10.0"},
	{seen: "3.2.0", registrar: "v2.10.0", probe: "v2.12.0"},
	{seen: "3.4.0", registrar: "v2.12.0", probe: "v2.14.0"},
	{seen: "3.5.0", registrar: "v2.13.0", probe: "v2.15.0", hostProcess: true},
	{seen: "3.7.1", registrar: "v2.13.0", probe: "v2.15.0", hostProcess: true, unlimited: true},
}}

func vspherePod(p pod) (corev1.PodSpec, bool) {
	row, ok := vsphereRows.at(p.version)
	if !ok || row.hostProcess != p.hostProcess {
		return corev1.PodSpec{}, false
	}
	socket, probeSocket := socketInside, "/csi/csi.sock"
	if p.hostProcess {
		socket = "unix://" + registrationPath(p.provisioner)
		probeSocket = socket
	}
	registrar := corev1.Container{
		Name: registrarName, Image: registrarK8s + row.registrar,
		Args:         []string{"--v=5", "--csi-address=$(ADDRESS)", "--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)"},
		Env:          []corev1.EnvVar{env("ADDRESS", socket), env("DRIVER_REG_SOCK_PATH", registrationPath(p.provisioner))},
		VolumeMounts: []corev1.VolumeMount{mount(pluginVolume, "/csi"), mount(registrationVolume, "/registration")},
	}
	driver := vsphereDriver(p, row, socket)
	probe := corev1.Container{
		Name: probeName, Image: probeK8s + row.probe,
		Args:         []string{"--v=4", "--csi-address=" + probeSocket},
		VolumeMounts: []corev1.VolumeMount{mount(pluginVolume, "/csi")},
	}
	spec := corev1.PodSpec{Volumes: []corev1.Volume{
		hostDir(registrationVolume, registryDir+`\`, corev1.HostPathDirectory),
		hostDir(pluginVolume, pluginsDir+p.provisioner+`\`, corev1.HostPathDirectoryOrCreate),
		hostDir("pods-mount-dir", `\var\lib\kubelet`, corev1.HostPathDirectory),
	}}
	if p.hostProcess {
		onHost(&spec)
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
		registrar.Command, driver.Command, probe.Command = []string{registrarExe}, []string{"csi.exe"}, []string{probeExe}
		registrar.Args = append(registrar.Args, "--plugin-registration-path=$(PLUGIN_REG_DIR)")
		registrar.Env = append(registrar.Env, env("PLUGIN_REG_DIR", registryArg))
	} else {
		registrar.LivenessProbe = registrarProbe("/"+registrarExe, registrationPath(p.provisioner), times{delay: 3})
	}
	spec.Containers = []corev1.Container{registrar, driver, probe}
	return spec, true
}

func vsphereDriver(p pod, row vsphereRow, socket string) corev1.Container {
	vars := []corev1.EnvVar{fieldEnv("NODE_NAME", "spec.nodeName"), env("CSI_ENDPOINT", socket)}
	if !row.unlimited {
		vars = append(vars, env("MAX_VOLUMES_PER_NODE", "59"))
	}
	vars = append(vars,
		env("X_CSI_MODE", "node"), env("X_CSI_SPEC_REQ_VALIDATION", "false"), env("X_CSI_SPEC_DISABLE_LEN_CHECK", "true"),
		env("LOGGER_LEVEL", "PRODUCTION"), env("X_CSI_LOG_LEVEL", "DEBUG"),
		fieldEnv("CSI_NAMESPACE", "metadata.namespace"), env("NODEGETINFO_WATCH_TIMEOUT_MINUTES", "1"))
	return corev1.Container{
		Name: vsphereContainer, Image: p.image, ImagePullPolicy: corev1.PullAlways,
		// The ConfigMap is OpenShift's, wherever the pod runs.
		Args:          []string{"--fss-name=" + vsphereFeatures, "--fss-namespace=" + OperatorNamespace},
		Env:           vars,
		VolumeMounts:  []corev1.VolumeMount{mount(pluginVolume, `C:\csi`), mount("pods-mount-dir", kubeletDir)},
		Ports:         []corev1.ContainerPort{healthPort(9808)},
		LivenessProbe: healthz(times{delay: 10, timeout: 5, period: 5, failures: 3}),
	}
}
