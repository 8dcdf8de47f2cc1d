package csidriver

import (
	corev1 "k8s.io/api/core/v1"
)

// family is the form that Azure Disk, Azure File and SMB share: their manifests
// come from one hand and differ in names, ports and arguments.
type family struct {
	container, exe string
	healthPort     int32
	metricsPort    int32 // of --metrics-address, where a row has it
	// pipeCPU is what the registrar asks for beside pipes.
	pipeCPU string
	// azure: the driver looks for the cloud's configuration.
	azure       bool
	pipes       rows[familyPipes]
	hostProcess rows[familyHost]
}

// familyPipes is a manifest with csi-proxy's pipes.
type familyPipes struct {
	seen
	registrar, probe string // images
	// args are the driver's own, after those that all rows have.
	args []string
	// checks: the kubelet asks the registrar whether it registered.
	checks bool
	// patience is livenessprobe's --probe-timeout.
	patience              string
	health                times
	memory, sidecarMemory string
}

// familyHost is a HostProcess manifest.
type familyHost struct {
	seen
	registrar             string
	args                  []string
	memory, sidecarMemory string
	// probe is livenessprobe's image, "" for none.
	probe string
	// words: the init container gets its command in words, not as one text.
	words bool
	// metrics: the port of the metrics is named.
	metrics bool
	// stops: the driver is told before it ends.
	stops bool
}

func (f *family) pod(p pod) (corev1.PodSpec, bool) {
	if p.hostProcess {
		if row, ok := f.hostProcess.at(p.version); ok {
			return f.hostPod(p, row), true
		}
		return corev1.PodSpec{}, false
	}
	if row, ok := f.pipes.at(p.version); ok {
		return f.pipePod(p, row), true
	}
	return corev1.PodSpec{}, false
}

func (f *family) pipePod(p pod, row familyPipes) corev1.PodSpec {
	registration := registrationPath(p.provisioner)
	probe := f.probe(row.probe, row.patience, socketInside, row.sidecarMemory)
	probe.VolumeMounts = []corev1.VolumeMount{mount(pluginVolume, `C:\csi`)}
	registrar := f.registrar(row.registrar, socketInside, registration, memory(f.pipeCPU, row.sidecarMemory))
	registrar.VolumeMounts = []corev1.VolumeMount{mount(kubeletVolume, kubeletDir), mount(pluginVolume, `C:\csi`), mount(registrationVolume, `C:\registration`)}
	if row.checks {
		registrar.LivenessProbe = registrarProbe("/"+registrarExe, "$(DRIVER_REG_SOCK_PATH)", times{delay: 60, timeout: 30})
	}
	driver := f.driver(p, socketInside, row.args, row.memory)
	driver.VolumeMounts = []corev1.VolumeMount{mount(kubeletVolume, kubeletDir), mount(pluginVolume, `C:\csi`)}
	driver.Ports = []corev1.ContainerPort{healthPort(f.healthPort)}
	driver.LivenessProbe = healthz(row.health)
	volumes := []corev1.Volume{
		hostDir(registrationVolume, registryDir+`\`, corev1.HostPathDirectory),
		hostDir(kubeletVolume, kubeletDir+`\`, corev1.HostPathDirectory),
		hostDir(pluginVolume, pluginsDir+p.provisioner+`\`, corev1.HostPathDirectoryOrCreate),
	}
	if f.azure {
		driver.VolumeMounts = append(driver.VolumeMounts, mount("azure-config", `C:\k`))
		volumes = append(volumes, hostDir("azure-config", `C:\k`, corev1.HostPathDirectoryOrCreate))
	}
	return corev1.PodSpec{Containers: []corev1.Container{probe, registrar, driver}, Volumes: volumes}
}

func (f *family) hostPod(p pod, row familyHost) corev1.PodSpec {
	registration := registrationPath(p.provisioner)
	socket := "unix://" + registration
	registrar := f.registrar(row.registrar, socket, registration, memory("30m", row.sidecarMemory))
	registrar.Command = []string{registrarExe}
	registrar.Args = append(registrar.Args, "--plugin-registration-path=$(PLUGIN_REG_DIR)")
	registrar.Env = append(registrar.Env, env("PLUGIN_REG_DIR", registryArg))
	driver := f.driver(p, socket, row.args, row.memory)
	driver.Command = []string{f.exe}
	spec := corev1.PodSpec{InitContainers: []corev1.Container{f.folder(p, row.words)}}
	onHost(&spec)
	if row.probe != "" {
		probe := f.probe(row.probe, "3s", socket, row.sidecarMemory)
		probe.Command = []string{probeExe}
		spec.Containers = append(spec.Containers, probe)
		registrar.LivenessProbe = registrarProbe(registrarExe, "$(DRIVER_REG_SOCK_PATH)", times{delay: 60, timeout: 30})
		driver.Ports = []corev1.ContainerPort{healthPort(f.healthPort)}
		driver.LivenessProbe = healthz(times{delay: 30, timeout: 10, period: 30, failures: 5})
	}
	if row.metrics {
		driver.Ports = append(driver.Ports, corev1.ContainerPort{Name: "metrics", ContainerPort: f.metricsPort, Protocol: corev1.ProtocolTCP})
	}
	if row.stops {
		driver.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/" + f.exe, "--pre-stop-hook=true"}}}}
	}
	spec.Containers = append(spec.Containers, registrar, driver)
	return spec
}

// folder makes the folder of the driver's socket: a HostProcess pod mounts
// none, so that nothing else does.
func (f *family) folder(p pod, words bool) corev1.Container {
	path := pluginsDir + p.provisioner + `\`
	command := []string{"powershell.exe", "-c", "New-Item -ItemType Directory -Path " + path + " -Force"}
	if words {
		command = []string{"powershell.exe", "-c", "New-Item", "-ItemType", "Directory", "-Path", path, "-Force"}
	}
	return corev1.Container{Name: "init", Image: p.image, ImagePullPolicy: corev1.PullIfNotPresent, Command: command}
}

func (f *family) probe(image, patience, socket, limit string) corev1.Container {
	return corev1.Container{
		Name: probeName, Image: image,
		Args:      []string{"--csi-address=$(CSI_ENDPOINT)", "--probe-timeout=" + patience, "--health-port=" + portText(f.healthPort), "--v=2"},
		Env:       []corev1.EnvVar{env("CSI_ENDPOINT", socket)},
		Resources: memory("10m", limit),
	}
}

func (f *family) registrar(image, socket, registration string, resources corev1.ResourceRequirements) corev1.Container {
	return corev1.Container{
		Name: registrarName, Image: image,
		Args:      []string{"--v=2", "--csi-address=$(CSI_ENDPOINT)", "--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)"},
		Env:       []corev1.EnvVar{env("CSI_ENDPOINT", socket), env("DRIVER_REG_SOCK_PATH", registration), fieldEnv("KUBE_NODE_NAME", "spec.nodeName")},
		Resources: resources,
	}
}

func (f *family) driver(p pod, socket string, args []string, limit string) corev1.Container {
	var vars []corev1.EnvVar
	if f.azure {
		optional := true
		vars = append(vars, corev1.EnvVar{Name: "AZURE_CREDENTIAL_FILE", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "azure-cred-file"}, Key: "path-windows", Optional: &optional,
		}}})
	}
	return corev1.Container{
		Name: f.container, Image: p.image, ImagePullPolicy: corev1.PullIfNotPresent,
		Args:      append([]string{"--v=5", "--endpoint=$(CSI_ENDPOINT)", "--nodeid=$(KUBE_NODE_NAME)"}, args...),
		Env:       append(vars, env("CSI_ENDPOINT", socket), fieldEnv("KUBE_NODE_NAME", "spec.nodeName")),
		Resources: memory("10m", limit),
	}
}
