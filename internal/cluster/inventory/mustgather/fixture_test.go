package mustgather

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

const (
	cluster    = clusterFolder + "/"
	namespaces = namespaceFolder + "/"
)

func node(name, os, annotations string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Node
metadata:
  name: %s
  labels:
    kubernetes.io/os: %s
  annotations: {%s}
status:
  nodeInfo:
    kernelVersion: 10.0.20348.2340
    kubeletVersion: v1.32.8+335be3a
    osImage: Windows Server 2022 Datacenter
    operatingSystem: %s
  conditions:
  - type: Ready
    status: "True"
`, name, os, annotations, os)
}

func csiNode(name string, drivers ...string) string {
	b := "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata:\n  name: " + name + "\nspec:\n  drivers:"
	if len(drivers) == 0 {
		return b + " []\n"
	}
	for _, d := range drivers {
		b += "\n  - name: " + d + "\n    nodeID: " + name + "\n    topologyKeys: null"
	}
	return b + "\n"
}

const (
	volume = `---
apiVersion: v1
kind: PersistentVolume
metadata:
  name: pv-1
spec:
  claimRef:
    namespace: shop
    name: data
  csi:
    driver: csi.vsphere.vmware.com
    volumeHandle: h
`
	claims = `---
apiVersion: v1
items:
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata:
    name: data
    namespace: shop
  spec:
    volumeName: pv-1
kind: PersistentVolumeClaimList
metadata:
  resourceVersion: "1"
`
	pods = `---
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-1
    namespace: shop
  spec:
    nodeName: win-1
    containers:
    - name: web
      image: example.com/web:1
    volumes:
    - name: data
      persistentVolumeClaim:
        claimName: data
kind: PodList
metadata:
  resourceVersion: "1"
`
	// daemonSets is a list whose items stand without kind, as older oc wrote.
	daemonSets = `---
apiVersion: apps/v1
items:
- metadata:
    name: vmware-vsphere-csi-driver-node-windows
    namespace: openshift-cluster-csi-drivers
  spec:
    selector:
      matchLabels: {app: w}
    template:
      metadata:
        labels: {app: w}
      spec:
        nodeSelector:
          kubernetes.io/os: windows
        containers:
        - name: node-driver-registrar
          image: registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.7.0
          args:
          - --kubelet-registration-path=C:\var\lib\kubelet\plugins\csi.vsphere.vmware.com\csi.sock
        - name: vsphere-csi-node
          image: registry.k8s.io/csi-vsphere/driver:v3.3.0
kind: DaemonSetList
metadata:
  resourceVersion: "1"
`
	clusterVersions = `---
apiVersion: config.openshift.io/v1
items:
- apiVersion: config.openshift.io/v1
  kind: ClusterVersion
  metadata:
    name: version
  status:
    desired:
      version: 4.19.12
    history:
    - state: Completed
      version: 4.19.12
kind: ClusterVersionList
metadata:
  resourceVersion: "1"
`
	infrastructures = `---
apiVersion: config.openshift.io/v1
items:
- metadata:
    name: cluster
  status:
    platformStatus:
      type: VSphere
kind: InfrastructureList
metadata:
  resourceVersion: "1"
`
	services = `---
apiVersion: v1
items:
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: windows-services-10.19.1-1a2b3c4
    namespace: openshift-windows-machine-config-operator
  data:
    services: '[]'
    files: '[]'
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: kube-root-ca.crt
    namespace: openshift-windows-machine-config-operator
kind: ConfigMapList
metadata:
  resourceVersion: "1"
`
)

// OpenShift's own objects, each as the must-gather of its operator has it.
const (
	csiDriver = "---\napiVersion: operator.openshift.io/v1\nkind: ClusterCSIDriver\nmetadata:\n  name: csi.vsphere.vmware.com\nspec:\n  managementState: Managed\n"
	pool      = "---\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata:\n  name: worker\nspec:\n  paused: true\nstatus:\n  machineCount: 3\n  updatedMachineCount: 2\n"
	gates     = "---\napiVersion: v1\nitems:\n- metadata:\n    name: admin-gates\n    namespace: openshift-config-managed\n  data:\n    ack-4.19-x-in-4.20: read this\nkind: ConfigMapList\n"
	acks      = "---\napiVersion: v1\nitems:\n- metadata:\n    name: admin-acks\n    namespace: openshift-config\n  data:\n    ack-4.18-x-in-4.19: \"true\"\nkind: ConfigMapList\n"
)

func namespaceObject(name string) string {
	return "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + name + "\n"
}

// namespaceList is what oc get namespaces -o yaml writes.
func namespaceList(names ...string) string {
	b := "apiVersion: v1\nitems:\n"
	for _, name := range names {
		b += "- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: " + name + "\n"
	}
	return b + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

// namespacesFile is the list that says which namespaces there are.
const namespacesFile = cluster + "core/namespaces.yaml"

// gathered is a whole must-gather of a small cluster, below its root, with the
// list of namespaces that somebody added.
func gathered() files {
	const wmco = "windowsmachineconfig.openshift.io/version: 10.19.1-1a2b3c4"
	const drivers, operator = "openshift-cluster-csi-drivers", kube.OperatorNamespace
	return files{
		"version":                                                                       "openshift/must-gather\n4.19.0-202511010000\n",
		cluster + "core/nodes/linux-1.yaml":                                             node("linux-1", "linux", ""),
		cluster + "core/nodes/win-1.yaml":                                               node("win-1", "windows", wmco),
		cluster + "core/persistentvolumes/pv-1.yaml":                                    volume,
		namespacesFile:                                                                  namespaceList(drivers, operator, "shop", "openshift-config", "openshift-config-managed"),
		cluster + "storage.k8s.io/csinodes/linux-1.yaml":                                csiNode("linux-1", "csi.vsphere.vmware.com"),
		cluster + "storage.k8s.io/csinodes/win-1.yaml":                                  csiNode("win-1", "csi.vsphere.vmware.com"),
		cluster + "config.openshift.io/clusterversions.yaml":                            clusterVersions,
		cluster + "config.openshift.io/infrastructures.yaml":                            infrastructures,
		cluster + "operator.openshift.io/clustercsidrivers/csi.vsphere.vmware.com.yaml": csiDriver,
		cluster + "machineconfiguration.openshift.io/machineconfigpools/worker.yaml":    pool,
		namespaces + "openshift-config/openshift-config.yaml":                           namespaceObject("openshift-config"),
		namespaces + "openshift-config/core/configmaps.yaml":                            acks,
		namespaces + "openshift-config-managed/openshift-config-managed.yaml":           namespaceObject("openshift-config-managed"),
		namespaces + "openshift-config-managed/core/configmaps.yaml":                    gates,
		namespaces + drivers + "/" + drivers + ".yaml":                                  namespaceObject(drivers),
		namespaces + drivers + "/apps/daemonsets.yaml":                                  daemonSets,
		namespaces + operator + "/" + operator + ".yaml":                                namespaceObject(operator),
		namespaces + operator + "/core/configmaps.yaml":                                 services,
		namespaces + "shop/shop.yaml":                                                   namespaceObject("shop"),
		namespaces + "shop/core/pods.yaml":                                              pods,
		namespaces + "shop/core/persistentvolumeclaims.yaml":                            claims,
		namespaces + "shop/pods/web-1/web-1.yaml":                                       "not: [yaml", // repeats core/pods.yaml and isn't read
		namespaces + "shop/pods/web-1/web/web/logs/current.log":                         "x\n",
		namespaces + "shop/core/secrets.yaml":                                           "not: [yaml",
		proxyLog:                                                                        proxyLines("win-1 ", versionOf419),
	}
}

// below puts fs into a folder.
func (fs files) below(folder string) files {
	out := files{}
	for name, content := range fs {
		out[folder+"/"+name] = content
	}
	return out
}

// with is fs with changes; an empty content removes a file.
func (fs files) with(changes files) files {
	out := maps.Clone(fs)
	for name, content := range changes {
		if content == "" {
			delete(out, name)
			continue
		}
		out[name] = content
	}
	return out
}

func read(t testing.TB, top string) (*inventory.Inventory, inventory.Source, error) {
	t.Helper()
	c := collector()
	src, err := Read(t.Context(), c, top)
	return c.Inventory(), src, err
}

func mustRead(t testing.TB, top string) *inventory.Inventory {
	t.Helper()
	inv, _, err := read(t, top)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func wantFault(t *testing.T, err error, parts ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Fix == "" || f.Where == "" {
		t.Fatalf("%v, want a fault with a place and a fix", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\nlacks %q", err, part)
		}
	}
}
