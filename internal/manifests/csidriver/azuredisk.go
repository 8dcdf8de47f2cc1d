package csidriver

import rbacv1 "k8s.io/api/rbac/v1"

// azureDisk is kubernetes-sigs/azuredisk-csi-driver,
// deploy/vVERSION/csi-azuredisk-node-windows.yaml and -hostprocess.yaml.
var azureDisk = shape{
	name:           "azure-disk",
	daemonSet:      "azure-disk-csi-driver-node-windows",
	account:        "azure-disk-csi-driver-node-sa",
	container:      azureDiskFamily.container,
	maxUnavailable: "1",
	pod:            azureDiskFamily.pod,
	// deploy/v1.33.1/rbac-csi-azuredisk-node.yaml.
	rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"csinodes"}, Verbs: []string{"get"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"volumeattachments"}, Verbs: []string{"get", "list", "watch"}},
	},
	// Up to 4.15 the account has the SCC alone (openshift/azure-disk-csi-driver-operator,
	// release-4.15: assets/rbac), from 4.16 on it may get nodes too
	// (openshift/csi-operator, assets/overlays/azure-disk/base/node_driver_role.yaml).
	// The hook before the end waits for VolumeAttachments: pkg/azurediskplugin/hooks/prestop.go.
	lacks: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"volumeattachments"}, Verbs: []string{"get", "list", "watch"}},
	},
	storage:  storage{ntfs: true, wait: true, expand: true, parameters: map[string]string{"skuName": "StandardSSD_LRS"}},
	cautions: []caution{{until: "1.23.0", text: azureNoZone}},
}

// diskLabels is false or left out in the project's manifests, which are made
// for AKS: its nodes have the cloud's configuration in C:\k\azure.json. WMCO's
// have none that the driver looks for, and without one it calls a cloud that
// isn't there as soon as the kubelet asks about the node (pkg/azuredisk/nodeserver.go,
// NodeGetInfo: d.cloud.VMSet, 1.22.0 to 1.34.2). The node's labels say the same:
// https://github.com/kubernetes-sigs/azuredisk-csi-driver/issues/3003.
const (
	emptyConfig    = "--allow-empty-cloud-config=true"
	diskLabels     = "--get-node-info-from-labels=true"
	diskMetrics    = "--metrics-address=0.0.0.0:29605"
	diskMetricPort = 29605
	hostFlag       = "--enable-windows-host-process=true"
	// kubeletConfig is where WMCO's kubelet has its own access to the cluster. The
	// token of a service account isn't at its usual path in a HostProcess container
	// of containerd 1.6, which WMCO has up to 4.13
	// (https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/#volume-mounts).
	kubeletConfig = `--kubeconfig=C:\\k\\kubeconfig`
	// azureNoZone: 1.22.0 takes the region from the cloud's configuration
	// (pkg/azureutils, IsValidAvailabilityZone), later ones from the zone's name.
	azureNoZone = "Without the cloud's configuration on the nodes, v1.22.0 reports no zone of them: pods whose disks are in a zone aren't scheduled to Windows nodes. v1.23.0 is the first that does."
)

var azureDiskFamily = family{
	container: "azuredisk", exe: "azurediskplugin.exe", healthPort: 29603, pipeCPU: "30m", metricsPort: diskMetricPort, azure: true,
	pipes: rows[familyPipes]{until: "1.35.0", list: []familyPipes{
		{seen: "1.22.0", registrar: registrarMCR + "v2.5.1", probe: probeMCR + "v2.7.0", checks: true, patience: "3s",
			args: []string{diskMetrics, emptyConfig, diskLabels}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "100Mi"},
		{seen: "1.26.0", registrar: registrarMCR + "v2.6.2", probe: probeMCR + "v2.8.0", checks: true, patience: "3s",
			args: []string{diskMetrics, emptyConfig, diskLabels}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.28.0", registrar: registrarMCR + "v2.8.0", probe: probeMCR + "v2.10.0", checks: true, patience: "3s",
			args: []string{emptyConfig, diskLabels}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.29.7", registrar: registrarMCR + "v2.11.0", probe: probeMCR + "v2.13.0", checks: true, patience: "3s",
			args: []string{emptyConfig, diskLabels}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.31.0", registrar: registrarMCR + "v2.12.0", probe: probeMCR + "v2.14.0", checks: true, patience: "30s",
			args: []string{emptyConfig, diskLabels}, health: times{60, 30, 30, 5}, memory: "600Mi", sidecarMemory: "150Mi"},
		{seen: "1.32.0", registrar: registrarMCR + "v2.13.0", probe: probeMCR + "v2.15.0", patience: "30s",
			args: []string{emptyConfig, diskLabels}, health: times{60, 60, 60, 5}, memory: "600Mi", sidecarMemory: "150Mi"},
		{seen: "1.33.3", registrar: registrarV2 + "v2.13.0", probe: probeMCR + "v2.15.0", patience: "30s",
			args: []string{emptyConfig, diskLabels}, health: times{60, 60, 60, 5}, memory: "600Mi", sidecarMemory: "150Mi"},
	}},
	hostProcess: rows[familyHost]{until: "1.35.0", list: []familyHost{
		{seen: "1.22.0", registrar: registrarMCR + "v2.5.1", probe: probeMCR + "v2.7.0", words: true,
			args: []string{diskMetrics, emptyConfig, diskLabels, kubeletConfig}, memory: "200Mi", sidecarMemory: "100Mi"},
		{seen: "1.26.0", registrar: registrarMCR + "v2.6.2", probe: probeMCR + "v2.8.0", words: true,
			args: []string{diskMetrics, emptyConfig, diskLabels, kubeletConfig}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.28.0", registrar: registrarMCR + "v2.8.0",
			args: []string{emptyConfig, diskLabels, hostFlag}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.29.0", registrar: registrarMCR + "v2.8.0",
			args: []string{emptyConfig, diskLabels, hostFlag}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.29.7", registrar: registrarMCR + "v2.11.0",
			args: []string{emptyConfig, diskLabels, hostFlag}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.31.0", registrar: registrarMCR + "v2.12.0",
			args: []string{emptyConfig, diskLabels, hostFlag}, memory: "600Mi", sidecarMemory: "150Mi"},
		{seen: "1.32.0", registrar: registrarMCR + "v2.13.0", stops: true,
			args: []string{emptyConfig, diskLabels, hostFlag}, memory: "1000Mi", sidecarMemory: "150Mi"},
		{seen: "1.33.0", registrar: registrarMCR + "v2.13.0", stops: true, metrics: true,
			args: []string{emptyConfig, diskLabels, hostFlag, diskMetrics}, memory: "1000Mi", sidecarMemory: "150Mi"},
		{seen: "1.33.3", registrar: registrarV2 + "v2.13.0", stops: true, metrics: true,
			args: []string{emptyConfig, diskLabels, hostFlag, diskMetrics}, memory: "1000Mi", sidecarMemory: "150Mi"},
		{seen: "1.33.5", registrar: registrarV2 + "v2.15.0", stops: true, metrics: true,
			args: []string{emptyConfig, diskLabels, hostFlag, diskMetrics}, memory: "1000Mi", sidecarMemory: "150Mi"},
		{seen: "1.34.2", registrar: registrarV2 + "v2.16.0", stops: true, metrics: true,
			args: []string{emptyConfig, diskLabels, hostFlag, diskMetrics}, memory: "1000Mi", sidecarMemory: "150Mi"},
	}},
}
