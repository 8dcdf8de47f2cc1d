package csidriver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const ebsContainer = "ebs-plugin"

// awsEBS is kubernetes-sigs/aws-ebs-csi-driver, the chart's
// templates/_node-windows.tpl with its values.yaml (templates/node-windows.yaml
// up to 1.18). The images of the sidecars are those of
// deploy/kubernetes/overlays/stable/gcr: the chart's own tags move in part
// (v2.7.0-eks-1-26-latest).
var awsEBS = shape{
	name:           "aws-ebs",
	daemonSet:      "aws-ebs-csi-driver-node-windows",
	account:        "aws-ebs-csi-driver-node-sa",
	container:      ebsContainer,
	maxUnavailable: "10%",
	pod:            ebsPod,
	// deploy/kubernetes/base/clusterrole-csi-node.yaml.
	rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "patch", "list", "watch"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"volumeattachments"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"csinodes"}, Verbs: []string{"get"}},
	},
	// The account has the SCC alone: openshift/csi-operator,
	// assets/overlays/aws-ebs/generated/standalone, release-4.15 to 5.0. Its pods
	// on Linux are on the host's network and ask the instance's metadata service,
	// which a pod with a network of its own reaches only with a hop limit of 2; the
	// driver's other source is the Node (pkg/cloud/metadata). The hook before the
	// end looks at the Node and waits for VolumeAttachments (cmd/hooks/prestop.go).
	lacks: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"volumeattachments"}, Verbs: []string{"get", "list", "watch"}},
	},
	storage: storage{ntfs: true, wait: true, expand: true, parameters: map[string]string{"type": "gp3", "encrypted": "true"}},
	// pkg/driver/options.go, up to 1.64.0 at the least.
	hostNote: "The project calls HostProcess alpha in this driver.",
}

type ebsRow struct {
	seen
	registrar, probe string
	logging          string // the argument about the log's form
	bounded          bool   // resources are given
	cpu              string // limit
	checks           bool   // the registrar is asked whether it registered
	period           int32  // of that question
	stops            bool   // runs as administrator, and is told before it ends
	grace            bool   // the time to end is given
	ready            bool   // there is a readiness probe
}

var ebsRows = rows[ebsRow]{until: "1.49.0", list: []ebsRow{
	{seen: "1.11.0", registrar: "v2.5.1", probe: "v2.6.0", logging: "--logtostderr"},
	{seen: "1.15.0", registrar: "v2.6.2", probe: "v2.8.0", logging: "--logtostderr", bounded: true, cpu: "100m"},
	{seen: "1.18.0", registrar: "v2.7.0", probe: "v2.9.0", logging: textLog, bounded: true, cpu: "100m", checks: true},
	{seen: "1.25.0", registrar: "v2.9.1", probe: "v2.11.0", logging: textLog, bounded: true, checks: true, period: 90, stops: true},
	{seen: "1.26.1", registrar: "v2.9.3", probe: "v2.11.0", logging: textLog, bounded: true, checks: true, period: 90, stops: true},
	{seen: "1.32.0", registrar: "v2.11.0", probe: "v2.13.0", logging: textLog, bounded: true, checks: true, period: 90, stops: true, grace: true},
	{seen: "1.34.0", registrar: "v2.11.1", probe: "v2.13.1", logging: textLog, bounded: true, checks: true, period: 90, stops: true, grace: true},
	{seen: "1.39.0", registrar: "v2.13.0", probe: "v2.14.0", logging: textLog, bounded: true, checks: true, period: 90, stops: true, grace: true},
	{seen: "1.45.0", registrar: "v2.14.0", probe: "v2.16.0", logging: textLog, bounded: true, checks: true, period: 90, stops: true, grace: true},
	{seen: "1.48.0", registrar: "v2.14.0", probe: "v2.16.0", logging: textLog, bounded: true, checks: true, period: 90, stops: true, grace: true, ready: true},
}}

const textLog = "--logging-format=text"

func ebsPod(p pod) (corev1.PodSpec, bool) {
	row, ok := ebsRows.at(p.version)
	if !ok {
		return corev1.PodSpec{}, false
	}
	path := pluginsDir + p.provisioner
	socket, registration := "unix:/csi/csi.sock", path+`\csi.sock`
	if p.hostProcess {
		registration = registrationPath(p.provisioner)
		socket = "unix://" + registration
	}
	driver, registrar, probe := ebsDriver(p, row, socket), ebsRegistrar(row, path, socket, registration), ebsProbe(row, socket)
	spec := corev1.PodSpec{Volumes: []corev1.Volume{
		hostDir(kubeletVolume, kubeletDir, corev1.HostPathDirectory),
		hostDir(pluginVolume, path, corev1.HostPathDirectoryOrCreate),
		hostDir(registrationVolume, registryDir, corev1.HostPathDirectory),
	}}
	if row.checks {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "probe-dir", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	if row.grace {
		seconds := int64(30)
		spec.TerminationGracePeriodSeconds = &seconds
	}
	if p.hostProcess {
		onHost(&spec)
		driver.Command, registrar.Command, probe.Command = []string{"aws-ebs-csi-driver.exe"}, []string{registrarExe}, []string{probeExe}
		driver.Args = append(driver.Args, "--windows-host-process=true")
		registrar.Args = append(registrar.Args, "--plugin-registration-path=$(PLUGIN_REG_DIR)")
		registrar.Env = append(registrar.Env, env("PLUGIN_REG_DIR", registryArg))
	} else if row.stops {
		administrator := "ContainerAdministrator"
		driver.SecurityContext = &corev1.SecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{RunAsUserName: &administrator}}
	}
	spec.Containers = []corev1.Container{driver, registrar, probe}
	return spec, true
}

func ebsDriver(p pod, row ebsRow, socket string) corev1.Container {
	none := corev1.MountPropagationNone
	kubelet := mount(kubeletVolume, kubeletDir)
	kubelet.MountPropagation = &none
	c := corev1.Container{
		Name: ebsContainer, Image: p.image, ImagePullPolicy: corev1.PullIfNotPresent,
		Args:          []string{"node", "--endpoint=$(CSI_ENDPOINT)", row.logging, "--v=2"},
		Env:           []corev1.EnvVar{env("CSI_ENDPOINT", socket), fieldEnv("CSI_NODE_NAME", "spec.nodeName")},
		VolumeMounts:  []corev1.VolumeMount{kubelet, mount(pluginVolume, `C:\csi`)},
		Ports:         []corev1.ContainerPort{healthPort(9808)},
		LivenessProbe: healthz(times{delay: 10, timeout: 3, period: 10, failures: 5}),
		Resources:     row.resources(),
	}
	if row.ready {
		c.ReadinessProbe = healthz(times{timeout: 3, period: 5, failures: 3})
	}
	if row.stops {
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/aws-ebs-csi-driver", "pre-stop-hook"}}}}
	}
	return c
}

func ebsRegistrar(row ebsRow, path, socket, registration string) corev1.Container {
	c := corev1.Container{
		Name: registrarName, Image: registrarK8s + row.registrar, ImagePullPolicy: corev1.PullIfNotPresent,
		Args:         []string{"--csi-address=$(ADDRESS)", "--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)", "--v=2"},
		Env:          []corev1.EnvVar{env("ADDRESS", socket), env("DRIVER_REG_SOCK_PATH", registration)},
		VolumeMounts: []corev1.VolumeMount{mount(pluginVolume, `C:\csi`), mount(registrationVolume, `C:\registration`)},
		Resources:    row.resources(),
	}
	if row.checks {
		c.LivenessProbe = registrarProbe("/"+registrarExe, "$(DRIVER_REG_SOCK_PATH)", times{delay: 30, timeout: 15, period: row.period})
		c.VolumeMounts = append(c.VolumeMounts, mount("probe-dir", path))
	}
	return c
}

func ebsProbe(row ebsRow, socket string) corev1.Container {
	return corev1.Container{
		Name: probeName, Image: probeK8s + row.probe, ImagePullPolicy: corev1.PullIfNotPresent,
		Args:         []string{"--csi-address=" + socket},
		VolumeMounts: []corev1.VolumeMount{mount(pluginVolume, `C:\csi`)},
		Resources:    row.resources(),
	}
}

// resources of each container of the pod.
func (r ebsRow) resources() corev1.ResourceRequirements {
	if !r.bounded {
		return corev1.ResourceRequirements{}
	}
	res := memory("10m", "256Mi")
	if r.cpu != "" {
		res.Limits[corev1.ResourceCPU] = resource.MustParse(r.cpu)
	}
	return res
}
