package states

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The provisioners.
const (
	vsphereName   = "csi.vsphere.vmware.com"
	azureDiskName = "disk.csi.azure.com"
	azureFileName = "file.csi.azure.com"
	ebsName       = "ebs.csi.aws.com"
	gcpName       = "pd.csi.storage.gke.io"
	smbName       = "smb.csi.k8s.io"
	secretsName   = "secrets-store.csi.k8s.io"
)

// driver is a DaemonSet of a CSI driver's node plugin.
type driver struct {
	namespace, name, container string
	provisioner                string
	image                      string
	args                       []string
	pipes                      []string // disk-v1
	hostProcess                bool
	registrar                  string // version of node-driver-registrar
	selector                   map[string]string
	nodeSelector               map[string]string
	labels, annotations        map[string]string
	tolerations                []corev1.Toleration
	onDelete                   bool
	linux, operated            bool
	// broken: its pods start on no node, and it is registered on none.
	broken bool
	// runsOn are the indexes of the Windows nodes where its pods are ready; nil
	// for all that it is scheduled to.
	runsOn []int
	// stale are the nodes whose pods run staleImage still.
	stale      []int
	staleImage string
	// imageID is the digest that the pods report.
	imageID string
}

var (
	everything = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	// WMCO taints its nodes so.
	osWindows = []corev1.Toleration{{Key: "os", Operator: corev1.TolerationOpEqual, Value: "Windows", Effect: corev1.TaintEffectNoSchedule}}
	// The Azure and SMB projects' manifests tolerate this one alone.
	upstreamOS = []corev1.Toleration{{Key: "node.kubernetes.io/os", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
)

// option changes a driver.
type option func(*driver)

func newDriver(d driver, options []option) driver {
	d.selector = map[string]string{"app": d.name}
	d.nodeSelector = map[string]string{"kubernetes.io/os": "windows"}
	if d.registrar == "" {
		d.registrar = "v2.13.0"
	}
	if d.tolerations == nil {
		d.tolerations = everything
	}
	for _, o := range options {
		o(&d)
	}
	return d
}

// operated is a Linux driver that an operator of OpenShift keeps.
func operated(name, provisioner string) driver {
	const payload = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:"
	return newDriver(driver{
		namespace: drivers, name: name, container: "csi-driver", provisioner: provisioner, linux: true, operated: true,
		image: payload + strings.Repeat("5c", 32),
	}, nil)
}

// vsphere is the driver as WMCO's sample has it: through csi-proxy's pipes.
func vsphere(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: drivers, name: "vmware-vsphere-csi-driver-node-windows", container: "vsphere-csi-node", provisioner: vsphereName,
		image: "registry.k8s.io/csi-vsphere/driver:" + tag, args: []string{"--fss-name=internal-feature-states.csi.vsphere.vmware.com", "--fss-namespace=$(CSI_NAMESPACE)"},
		pipes: []string{"disk-v1", "filesystem-v1", "volume-v1", "system-v1alpha1"},
	}, options)
}

// vsphereHost is the driver from 3.5.0 on: a HostProcess container.
func vsphereHost(tag string, options ...option) driver {
	d := vsphere(tag)
	return adjusted(inHost(d), options)
}

// azureFile is the driver as WMCO's sample has it.
func azureFile(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: drivers, name: "azure-file-csi-driver-node-windows", container: "azurefile", provisioner: azureFileName,
		image: "mcr.microsoft.com/oss/kubernetes-csi/azurefile-csi:" + tag, args: []string{"--v=5", "--endpoint=$(CSI_ENDPOINT)", "--nodeid=$(KUBE_NODE_NAME)"},
		pipes: []string{"filesystem-v1", "smb-v1"},
	}, options)
}

// azureFileHost is the project's HostProcess manifest, in kube-system.
func azureFileHost(tag string, options ...option) driver {
	d := azureFile(tag, at("kube-system", "csi-azurefile-node-win"), argument("--enable-windows-host-process=true"))
	return adjusted(inHost(d), options)
}

// azureDisk is the project's manifest for csi-proxy.
func azureDisk(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: "kube-system", name: "csi-azuredisk-node-win", container: "azuredisk", provisioner: azureDiskName,
		image: "mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi:" + tag, args: []string{"--v=5", "--endpoint=$(CSI_ENDPOINT)", "--nodeid=$(KUBE_NODE_NAME)"},
		pipes: []string{"disk-v1", "filesystem-v1", "volume-v1"},
	}, options)
}

// azureDiskHost is the project's HostProcess manifest.
func azureDiskHost(tag string) driver {
	return inHost(azureDisk(tag, argument("--enable-windows-host-process=true")))
}

// ebs is the project's manifest for csi-proxy.
func ebs(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: "kube-system", name: "ebs-csi-node-windows", container: "ebs-plugin", provisioner: ebsName,
		image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:" + tag, args: []string{"node", "--endpoint=$(CSI_ENDPOINT)", "--v=2"},
		pipes: []string{"disk-v1", "filesystem-v1", "volume-v1"},
	}, options)
}

// gcp is the project's manifest.
func gcp(tag string, options ...option) driver {
	return newDriver(driver{
		namespace: "gce-pd-csi-driver", name: "csi-gce-pd-node-win", container: "gce-pd-driver", provisioner: gcpName,
		image: "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver" + tag, args: []string{"--v=5", "--endpoint=$(CSI_ENDPOINT)", "--run-controller-service=false"},
		pipes: []string{"disk-v1", "filesystem-v1", "volume-v1"},
	}, options)
}

// smb is the project's HostProcess manifest.
func smbHost(tag string, options ...option) driver {
	d := newDriver(driver{
		namespace: "kube-system", name: "csi-smb-node-win", container: "smb", provisioner: smbName,
		image: "registry.k8s.io/sig-storage/smbplugin:" + tag, args: []string{"--v=5", "--endpoint=$(CSI_ENDPOINT)", "--nodeid=$(KUBE_NODE_NAME)", "--enable-windows-host-process=true"},
	}, nil)
	return adjusted(inHost(d), options)
}

// smbPipes is the manifest of the versions before 1.17.0.
func smbPipes(tag string) driver {
	return newDriver(driver{
		namespace: "kube-system", name: "csi-smb-node-win", container: "smb", provisioner: smbName,
		image: "registry.k8s.io/sig-storage/smbplugin:" + tag, args: []string{"--v=5", "--endpoint=$(CSI_ENDPOINT)", "--nodeid=$(KUBE_NODE_NAME)"},
		pipes: []string{"filesystem-v1", "smb-v1"},
	}, nil)
}

// secretsStore reaches no disk: it needs neither pipes nor HostProcess.
func secretsStore(tag string) driver {
	return newDriver(driver{
		namespace: "kube-system", name: "csi-secrets-store-windows", container: "secrets-store", provisioner: secretsName,
		image: "registry.k8s.io/csi-secrets-store/driver:" + tag, args: []string{"--endpoint=$(CSI_ENDPOINT)", "--nodeid=$(KUBE_NODE_NAME)"},
	}, nil)
}

// onLinux is the Linux DaemonSet beside a project's own Windows one.
func onLinux(d driver, name string) driver {
	d.name, d.linux, d.pipes, d.hostProcess = name, true, nil, false
	d.image = strings.TrimSuffix(d.image, "-windows-hp")
	d.selector = map[string]string{"app": name}
	return d
}

func adjusted(d driver, options []option) driver {
	for _, o := range options {
		o(&d)
	}
	return d
}

// inHost makes a driver a HostProcess container, which mounts no pipe.
func inHost(d driver) driver {
	d.hostProcess, d.pipes = true, nil
	return d
}

func argument(args ...string) option { return func(d *driver) { d.args = append(d.args, args...) } }

// at puts a driver elsewhere.
func at(namespace, name string) option {
	return func(d *driver) {
		d.namespace, d.name, d.selector = namespace, name, map[string]string{"app": name}
	}
}

func tolerating(t []corev1.Toleration) option { return func(d *driver) { d.tolerations = t } }
func mounting(pipes ...string) option         { return func(d *driver) { d.pipes = pipes } }
func image(reference string) option           { return func(d *driver) { d.image = reference } }
func registrar(tag string) option             { return func(d *driver) { d.registrar = tag } }
func running(nodes ...int) option             { return func(d *driver) { d.runsOn = append([]int{}, nodes...) } }
func reports(digest string) option            { return func(d *driver) { d.imageID = digest } }
func broken(d *driver)                        { d.broken = true }

// selecting adds to the node selector.
func selecting(key, value string) option {
	return func(d *driver) {
		d.nodeSelector = maps.Clone(d.nodeSelector)
		d.nodeSelector[key] = value
	}
}

// fromHelm is what Helm leaves on what it installs.
func fromHelm(d *driver) {
	d.labels = map[string]string{"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "driver-1.0.0"}
	d.annotations = map[string]string{"meta.helm.sh/release-name": "csi-windows", "meta.helm.sh/release-namespace": d.namespace}
}

// fromArgoCD is what Argo CD leaves on what it syncs.
func fromArgoCD(d *driver) {
	d.annotations = map[string]string{"argocd.argoproj.io/tracking-id": "storage-windows:apps/DaemonSet:" + d.namespace + "/" + d.name}
}

// fromFlux is what Flux leaves on what it applies.
func fromFlux(d *driver) {
	d.labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "storage-windows", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
}

// fromACM is what Open Cluster Management leaves on what a ManifestWork makes.
func fromACM(d *driver) {
	d.annotations = map[string]string{"apps.open-cluster-management.io/hosting-subscription": "storage/windows"}
}
