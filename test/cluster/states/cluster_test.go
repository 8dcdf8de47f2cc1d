package states

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// cluster is what a state's objects are made from: an OpenShift cluster with its
// operators' objects, Windows nodes, Windows drivers and the pods that use them.
type cluster struct {
	release  string // the newest completed one
	updating string // the release of an update that isn't complete
	channel  string
	offered  []string // available updates
	risky    []string // conditional ones, with known risks for this cluster
	// recommended is the status of their condition; "" is False.
	recommended string
	// notUpgradeable are reason and message of Upgradeable=False.
	notUpgradeable [2]string
	platform       string
	wmco           string // "" for a cluster without it
	wmcoPhase      string // "" is Succeeded
	acks           []string
	pausedPools    bool
	managed        string // ClusterCSIDriver's managementState

	nodes   []node
	linux   []driver
	drivers []driver
	volumes []volume
	spaces  []space
	extra   []any
	// plain: a Kubernetes cluster that isn't OpenShift.
	plain bool
}

// mod changes a cluster before its objects are made.
type mod func(*cluster)

// node is a Windows node.
type node struct {
	name    string
	build   int
	kubelet string // v1.32.9
	runtime string // containerd://1.7.27
	wmco    string // annotation; "" for none
	labels  map[string]string
	taint   string // key of a taint besides WMCO's
	down    bool
	// topology is the CSINode's topology keys of a driver.
	topology []string
	// unmigrated: the kubelet moves no in-tree plugin to CSI.
	unmigrated bool
}

// volume is one that a pod uses.
type volume struct {
	name        string
	node        int // index of its pod's node; -1 for a pod that waits
	provisioner string
	inTree      string // kubernetes.io/azure-file; "" for a CSI volume
	migrated    bool   // pv.kubernetes.io/migrated-to
	zone        string // topology key of the node affinity
	linux       bool   // its pod runs on Linux
}

// space is a namespace with labels.
type space struct {
	name   string
	labels map[string]string
}

const (
	drivers = "openshift-cluster-csi-drivers"
	wmcoNS  = "openshift-windows-machine-config-operator"
)

// since are the versions that came with each release of OpenShift.
var since = map[string]struct{ wmco, kubelet, containerd string }{
	"4.12": {"7.2.2", "v1.25.16", "1.6.16"},
	"4.13": {"8.1.3", "v1.26.15", "1.7.1"},
	"4.14": {"9.0.3", "v1.27.16", "1.7.8"},
	"4.15": {"10.15.3", "v1.28.15", "1.7.16"},
	"4.16": {"10.16.2", "v1.29.14", "1.7.16"},
	"4.17": {"10.17.1", "v1.30.12", "1.7.20"},
	"4.18": {"10.18.2", "v1.31.12", "1.7.26"},
	"4.19": {"10.19.2", "v1.32.9", "1.7.27"},
	"4.20": {"10.20.1", "v1.33.5", "1.7.27"},
	"4.21": {"10.21.1", "v1.34.3", "1.7.29"},
	"4.22": {"10.22.1", "v1.35.2", "1.7.30"},
	"5.0":  {"11.0.0", "v1.36.1", "2.1.4"},
}

// minor is 4.19 of 4.19.12.
func minor(release string) string {
	parts := strings.Split(release, ".")
	return strings.Join(parts[:2], ".")
}

// openshift is a cluster of two Windows Server 2022 nodes that WMCO keeps, and the
// Linux drivers that the platform's operators bring.
func openshift(release, platform string, mods ...mod) *cluster {
	v, ok := since[minor(release)]
	if !ok {
		panic("no versions for " + release)
	}
	c := &cluster{release: release, platform: platform, wmco: v.wmco, channel: "stable-" + minor(release)}
	labels := map[string]string{}
	if r := minor(release); r == "4.13" && platform != "VSphere" || r == "4.14" {
		labels[configured] = "true"
	}
	for i := range 2 {
		c.nodes = append(c.nodes, node{name: fmt.Sprintf("winworker-%d", i+1), build: 20348, kubelet: v.kubelet, runtime: "containerd://" + v.containerd, wmco: v.wmco, labels: labels})
	}
	c.spaces = []space{
		{drivers, map[string]string{"pod-security.kubernetes.io/enforce": "privileged", "pod-security.kubernetes.io/audit": "privileged", "pod-security.kubernetes.io/warn": "privileged", "security.openshift.io/scc.podSecurityLabelSync": "false"}},
		{wmcoNS, map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}},
		{"kube-system", map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}},
		{"shop", map[string]string{"pod-security.kubernetes.io/audit": "restricted", "pod-security.kubernetes.io/warn": "restricted"}},
	}
	c.linux = operators[platform]
	for _, m := range mods {
		m(c)
	}
	return c
}

// operators are the Linux drivers that each platform's operators bring.
var operators = map[string][]driver{
	"VSphere": {operated("vmware-vsphere-csi-driver-node", vsphereName)},
	"Azure":   {operated("azure-disk-csi-driver-node", azureDiskName), operated("azure-file-csi-driver-node", azureFileName)},
	"AWS":     {operated("aws-ebs-csi-driver-node", ebsName)},
	"GCP":     {operated("gcp-pd-csi-driver-node", gcpName)},
	"None":    nil,
}

// with adds Windows drivers.
func with(list ...driver) mod { return func(c *cluster) { c.drivers = append(c.drivers, list...) } }

// onWindows makes all Windows nodes those of another build.
func onWindows(build int) mod {
	return func(c *cluster) {
		for i := range c.nodes {
			c.nodes[i].build = build
		}
	}
}

// operator sets WMCO's version, and its nodes' with it.
func operator(version string) mod {
	return func(c *cluster) {
		c.wmco = version
		for i := range c.nodes {
			c.nodes[i].wmco = version
		}
	}
}

// nodesOf makes the Windows nodes those of an older release's WMCO.
func nodesOf(release string) mod {
	return func(c *cluster) {
		for i := range c.nodes {
			v := since[release]
			c.nodes[i].kubelet, c.nodes[i].wmco, c.nodes[i].runtime = v.kubelet, v.wmco, "containerd://"+v.containerd
		}
	}
}

// labelled puts a label on every Windows node.
func labelled(key, value string) mod {
	return func(c *cluster) {
		for i := range c.nodes {
			labels := map[string]string{key: value}
			for k, v := range c.nodes[i].labels {
				labels[k] = v
			}
			c.nodes[i].labels = labels
		}
	}
}

// noWMCO is a cluster whose nodes no operator keeps.
func noWMCO(c *cluster) { operator("")(c) }

// change does anything else.
func change(f func(*cluster)) mod { return f }

// uses is a workload on Windows with a CSI volume of each provisioner.
func uses(provisioners ...string) mod {
	return func(c *cluster) {
		for _, p := range provisioners {
			c.volumes = append(c.volumes, volume{name: fmt.Sprintf("data-%d", len(c.volumes)), provisioner: p})
		}
	}
}

// usesOnLinux is a workload on Linux.
func usesOnLinux(provisioner string) mod {
	return func(c *cluster) {
		c.volumes = append(c.volumes, volume{name: "linux", provisioner: provisioner, linux: true})
	}
}

// usesInTree is a workload on Windows with a volume of an in-tree plugin.
func usesInTree(plugin string, migrated bool) mod {
	return func(c *cluster) {
		c.volumes = append(c.volumes, volume{name: fmt.Sprintf("old-%d", len(c.volumes)), inTree: plugin, migrated: migrated})
	}
}

// acked gives acknowledgements.
func acked(keys ...string) mod { return func(c *cluster) { c.acks = append(c.acks, keys...) } }

// namespace sets a namespace's labels.
func namespace(name string, labels map[string]string) mod {
	return func(c *cluster) {
		c.spaces = append(slices.DeleteFunc(slices.Clone(c.spaces), func(s space) bool { return s.name == name }), space{name, labels})
	}
}

// enforces is the Pod Security level of a namespace that its labels fix.
func enforces(level string) map[string]string {
	return map[string]string{"pod-security.kubernetes.io/enforce": level, "security.openshift.io/scc.podSecurityLabelSync": "false"}
}

// offers lists updates that the cluster is offered.
func offers(versions ...string) mod { return func(c *cluster) { c.offered = versions } }

// desired is the release that the cluster is at or going to.
func (c *cluster) desired() string { return cmp.Or(c.updating, c.release) }
