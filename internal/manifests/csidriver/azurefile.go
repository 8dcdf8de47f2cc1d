package csidriver

import rbacv1 "k8s.io/api/rbac/v1"

// azureFile is kubernetes-sigs/azurefile-csi-driver,
// deploy/vVERSION/csi-azurefile-node-windows.yaml and -hostprocess.yaml. Its
// account is the controller's, as in WMCO's example: the driver reads the
// storage account's key from a Secret, which OpenShift allows that account and
// not the node's (openshift/csi-operator,
// assets/overlays/azure-file/generated/standalone/csi-driver-cluster-role.yaml).
var azureFile = shape{
	name:           "azure-file",
	daemonSet:      "azure-file-csi-driver-node-windows",
	account:        "azure-file-csi-driver-controller-sa",
	container:      azureFileFamily.container,
	maxUnavailable: "1",
	pod:            azureFileFamily.pod,
	// deploy/v1.33.3/rbac-csi-azurefile-node.yaml, without what is for Kata
	// containers alone.
	rules:   []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}},
	storage: storage{shared: true, expand: true, parameters: map[string]string{"skuName": "Standard_LRS"}},
}

// fileMetrics: 1.29.1 to 1.35.7 have the address in quotes that would reach the
// driver, which couldn't listen there; they are left out.
const fileMetrics = "--metrics-address=0.0.0.0:29615"

// azureFileFamily names no --kubeconfig. The manifests up to 1.25 have AKS'
// C:\k\config, which WMCO's nodes haven't got: the driver would have no access to
// the cluster, and so none to the Secret. Without the argument it uses its
// service account (pkg/azurefile/azure.go: getKubeClient, getKubeConfig).
var azureFileFamily = family{
	container: "azurefile", exe: "azurefileplugin.exe", healthPort: 29613, pipeCPU: "30m", azure: true,
	pipes: rows[familyPipes]{until: "1.36.0", list: []familyPipes{
		{seen: "1.21.0", registrar: registrarMCR + "v2.5.1", probe: probeMCR + "v2.7.0", checks: true, patience: "3s",
			args: []string{fileMetrics}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.25.0", registrar: registrarMCR + "v2.6.2", probe: probeMCR + "v2.8.0", checks: true, patience: "3s",
			args: []string{fileMetrics}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.28.1", registrar: registrarMCR + "v2.8.0", probe: probeMCR + "v2.10.0", checks: true, patience: "3s",
			health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.29.2", registrar: registrarMCR + "v2.8.0", probe: probeMCR + "v2.10.0", checks: true, patience: "3s",
			args: []string{fileMetrics}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.30.3", registrar: registrarMCR + "v2.11.0", probe: probeMCR + "v2.13.0", checks: true, patience: "3s",
			args: []string{fileMetrics}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.32.0", registrar: registrarMCR + "v2.13.0", probe: probeMCR + "v2.15.0", patience: "3s",
			args: []string{fileMetrics}, health: times{60, 60, 60, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.33.2", registrar: registrarV2 + "v2.13.0", probe: probeMCR + "v2.15.0", patience: "3s",
			args: []string{fileMetrics}, health: times{60, 60, 60, 5}, memory: "200Mi", sidecarMemory: "150Mi"},
	}},
	hostProcess: rows[familyHost]{until: "1.36.0", list: []familyHost{
		{seen: "1.28.1", registrar: registrarMCR + "v2.8.0",
			args: []string{hostFlag}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.29.2", registrar: registrarMCR + "v2.8.0",
			args: []string{hostFlag, fileMetrics}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.30.3", registrar: registrarMCR + "v2.11.0",
			args: []string{hostFlag, fileMetrics}, memory: "200Mi", sidecarMemory: "150Mi"},
		{seen: "1.32.0", registrar: registrarMCR + "v2.13.0",
			args: []string{hostFlag, fileMetrics}, memory: "600Mi", sidecarMemory: "150Mi"},
		{seen: "1.33.2", registrar: registrarV2 + "v2.13.0",
			args: []string{hostFlag, fileMetrics}, memory: "600Mi", sidecarMemory: "150Mi"},
		{seen: "1.34.0", registrar: registrarV2 + "v2.15.0",
			args: []string{hostFlag, fileMetrics}, memory: "600Mi", sidecarMemory: "150Mi"},
	}},
}
