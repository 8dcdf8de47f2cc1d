package csidriver

import rbacv1 "k8s.io/api/rbac/v1"

// smb is kubernetes-csi/csi-driver-smb,
// deploy/vVERSION/csi-smb-node-windows.yaml and -hostprocess.yaml. The latter
// takes the registrar from mcr.microsoft.com, the former the same one from
// registry.k8s.io; one place is enough here.
var smb = shape{
	name:           "smb",
	daemonSet:      "smb-csi-driver-node-windows",
	account:        "smb-csi-driver-node-sa",
	container:      smbFamily.container,
	maxUnavailable: "1",
	pod:            smbFamily.pod,
	// deploy/v1.17.0/rbac-csi-smb.yaml.
	rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}},
	storage: storage{shared: true, parameters: map[string]string{
		"source": smbSource,
		"csi.storage.k8s.io/provisioner-secret-name":      smbSecret,
		"csi.storage.k8s.io/provisioner-secret-namespace": testNamespace,
		"csi.storage.k8s.io/node-stage-secret-name":       smbSecret,
		"csi.storage.k8s.io/node-stage-secret-namespace":  testNamespace,
	}},
}

const (
	smbSecret = "smbcreds"
	smbSource = "//smb.example.com/share"
	// smbSecretCommand makes the Secret that the class names.
	smbSecretCommand = "oc -n " + testNamespace + " create secret generic " + smbSecret + " --from-literal username=USER --from-literal password=PASSWORD"
	unmapSMB         = "--remove-smb-mapping-during-unmount=true"
)

var smbFamily = family{
	container: "smb", exe: "smbplugin.exe", healthPort: 29643, pipeCPU: "10m",
	pipes: rows[familyPipes]{until: "1.20.0", list: []familyPipes{
		{seen: "1.14.0", registrar: registrarK8s + "v2.9.1", probe: probeK8s + "v2.11.0", checks: true, patience: "3s",
			args: []string{unmapSMB}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "100Mi"},
		{seen: "1.15.0", registrar: registrarK8s + "v2.11.1", probe: probeK8s + "v2.13.1", checks: true, patience: "3s",
			args: []string{unmapSMB}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "100Mi"},
		{seen: "1.17.0", registrar: registrarK8s + "v2.13.0", probe: probeK8s + "v2.15.0", patience: "3s",
			args: []string{unmapSMB}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "100Mi"},
		{seen: "1.19.0", registrar: registrarK8s + "v2.15.0", probe: probeK8s + "v2.16.0", patience: "3s",
			args: []string{unmapSMB}, health: times{30, 10, 30, 5}, memory: "200Mi", sidecarMemory: "100Mi"},
	}},
	hostProcess: rows[familyHost]{until: "1.20.0", list: []familyHost{
		{seen: "1.17.0", registrar: registrarK8s + "v2.13.0", args: []string{hostFlag, unmapSMB}, memory: "600Mi", sidecarMemory: "150Mi"},
		{seen: "1.19.0", registrar: registrarK8s + "v2.15.0", args: []string{hostFlag, unmapSMB}, memory: "600Mi", sidecarMemory: "150Mi"},
	}},
}
