package skew_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

const (
	vsphereName   = "csi.vsphere.vmware.com"
	azureFileName = "file.csi.azure.com"
	azureDiskName = "disk.csi.azure.com"
)

// change makes one inventory another.
type change func(*inventory.Inventory)

// testCatalog is the embedded one, in which 5.0 deploys the drivers that the
// enhancement names: in which 5.x that comes may still change. All tests share
// it.
func testCatalog(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

var shared = sync.OnceValues(func() (*catalog.Catalog, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	return copyOf(c)
})

func copyOf(c *catalog.Catalog) (*catalog.Catalog, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	own := &catalog.Catalog{}
	if err := json.Unmarshal(data, own); err != nil {
		return nil, err
	}
	own.Release("5.0").WindowsManaged = []string{"azure-file", "vsphere"}
	return own, nil
}

// storageCluster is a healthy cluster with three Windows nodes and vSphere's
// driver on Linux and Windows.
func storageCluster(openshift, wmco string) *inventory.Inventory {
	o, err := version.ParseOpenShift(openshift)
	if err != nil {
		panic(err)
	}
	kube := fmt.Sprintf("v1.%d.4", o.Minor+13)
	inv := &inventory.Inventory{
		Sources:    []inventory.Source{{Kind: "cluster", Name: "test"}},
		Cluster:    inventory.Cluster{OpenShift: openshift + ".30", Kubernetes: kube, Platform: "VSphere", WMCO: wmco, Evidence: []inventory.Evidence{fact("ClusterVersion version")}},
		LinuxNodes: 3,
		Read:       map[inventory.Resource]inventory.Coverage{},
	}
	for _, r := range []inventory.Resource{inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods, inventory.Volumes, inventory.Claims, inventory.ClusterVersion, inventory.Services} {
		inv.Read[r] = inventory.Coverage{Complete: true, Count: 1}
	}
	for i := range 3 {
		name := fmt.Sprintf("win-%d", i)
		n := inventory.Node{Name: name, Labels: map[string]string{"kubernetes.io/os": "windows", "kubernetes.io/hostname": name}, Build: 20348,
			OSImage: "Windows Server 2022 Datacenter", Kubelet: kube, Ready: true, At: fact("Node " + name)}
		if wmco != "" {
			n.WMCO, n.DesiredWMCO = wmco+"-1a2b3c4", wmco+"-1a2b3c4"
		}
		inv.Nodes = append(inv.Nodes, n)
		inv.CSINodes = append(inv.CSINodes, inventory.CSINode{Name: name, Drivers: []string{vsphereName}, At: fact("CSINode " + name)})
	}
	linux := inventory.Driver{Object: inventory.Object{Kind: "DaemonSet", Namespace: "openshift-cluster-csi-drivers", Name: "vmware-vsphere-csi-driver-node"}, OS: "linux",
		Provisioner: vsphereName, Line: "vsphere", OperatorManaged: true, Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}},
		Rollout: &inventory.Rollout{Desired: 3, Ready: 3, Updated: 3, Observed: true}, Evidence: []inventory.Evidence{fact("DaemonSet vmware-vsphere-csi-driver-node")}}
	inv.Drivers = []inventory.Driver{linux, windowsDriver("vsphere", vsphereName, "v3.3.0", "disk-v1", "filesystem-v1", "volume-v1", "system-v1alpha1")}
	return inv
}

// windowsDriver is a pipe-mode Windows DaemonSet.
func windowsDriver(line, provisioner, tag string, pipes ...string) inventory.Driver {
	object := inventory.Object{Kind: "DaemonSet", Namespace: "openshift-cluster-csi-drivers", Name: line + "-windows"}
	d := inventory.Driver{Object: object, OS: "windows", Provisioner: provisioner, Line: line, Container: "driver",
		Image:      inventory.Image{Reference: "mirror.example/" + line + ":" + tag, Repository: "mirror.example/" + line, Tag: tag},
		Version:    tagFact(tag),
		Registrar:  &inventory.Sidecar{Container: "node-driver-registrar", Image: inventory.Image{Reference: "mirror.example/registrar:v2.7.0", Tag: "v2.7.0"}, Version: tagFact("v2.7.0")},
		Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}},
		Rollout:    &inventory.Rollout{Desired: 3, Ready: 3, Updated: 3, Observed: true},
		Evidence:   []inventory.Evidence{fact(object.String())}}
	for _, p := range pipes {
		group, v, _ := strings.Cut(p, "-")
		d.Pipes = append(d.Pipes, inventory.Pipe{Group: group, Version: v, At: fact(object.String() + " volumes")})
	}
	return d
}

func tagFact(tag string) inventory.VersionFact {
	v, err := version.ParseDriver(tag)
	if err != nil {
		return inventory.VersionFact{Reason: err.Error(), At: fact("image")}
	}
	return inventory.VersionFact{Version: v, Known: true, By: "tag", At: fact("image")}
}

func fact(where string) inventory.Evidence { return inventory.Evidence{Where: where} }

// onNodes changes the nodes of these indexes, all of them without any.
func onNodes(do func(*inventory.Node), which ...int) change {
	return func(inv *inventory.Inventory) {
		for i := range inv.Nodes {
			if len(which) == 0 || slices.Contains(which, i) {
				do(&inv.Nodes[i])
			}
		}
	}
}

func wmco(v string, which ...int) change {
	return onNodes(func(n *inventory.Node) { n.WMCO, n.DesiredWMCO = v, v }, which...)
}

func build(b int) change { return onNodes(func(n *inventory.Node) { n.Build = b }) }

// registers sets what the CSINodes of these nodes list.
func registers(drivers []string, which ...int) change {
	return func(inv *inventory.Inventory) {
		for i := range inv.CSINodes {
			if len(which) == 0 || slices.Contains(which, i) {
				inv.CSINodes[i].Drivers = drivers
			}
		}
	}
}

// noCSINode takes the CSINodes of these nodes away.
func noCSINode(which ...int) change {
	return func(inv *inventory.Inventory) {
		for _, i := range slices.Backward(which) {
			inv.CSINodes = slices.Delete(inv.CSINodes, i, i+1)
		}
	}
}

// noNode takes Windows nodes away; what else names them stays.
func noNode(which ...int) change {
	return func(inv *inventory.Inventory) {
		for _, i := range slices.Backward(which) {
			inv.Nodes = slices.Delete(inv.Nodes, i, i+1)
		}
	}
}

// onWindows changes the Windows DaemonSets.
func onWindows(do func(*inventory.Driver)) change {
	return func(inv *inventory.Inventory) {
		for i := range inv.Drivers {
			if inv.Drivers[i].OS == "windows" {
				do(&inv.Drivers[i])
			}
		}
	}
}

// onlyWindows makes d the one Windows DaemonSet.
func onlyWindows(d inventory.Driver) change {
	return func(inv *inventory.Inventory) {
		inv.Drivers = append(slices.DeleteFunc(inv.Drivers, func(d inventory.Driver) bool { return d.OS == "windows" }), d)
	}
}

func noWindows(inv *inventory.Inventory) {
	inv.Drivers = slices.DeleteFunc(inv.Drivers, func(d inventory.Driver) bool { return d.OS == "windows" })
}

// uses adds a volume of a Windows pod.
func uses(u inventory.VolumeUse) change {
	return func(inv *inventory.Inventory) {
		u.Pod = inventory.Object{Kind: "Pod", Namespace: "shop", Name: fmt.Sprintf("web-%d", len(inv.Volumes))}
		u.At = fact(u.Pod.String())
		inv.Volumes = append(inv.Volumes, u)
	}
}

func noVolumes(inv *inventory.Inventory) { inv.Volumes = nil }

// unread makes a resource unread and takes its objects away.
func unread(rs ...inventory.Resource) change {
	return func(inv *inventory.Inventory) {
		for _, r := range rs {
			inv.Read[r] = inventory.Coverage{Reason: "not in these manifests"}
			switch r {
			case inventory.Nodes:
				inv.Nodes = nil
			case inventory.CSINodes:
				inv.CSINodes = nil
			case inventory.Pods:
				inv.Volumes = nil
			default:
			}
		}
	}
}

// proxyDaemonSet adds a DaemonSet that runs csi-proxy itself.
func proxyDaemonSet(tag string) change {
	return func(inv *inventory.Inventory) {
		inv.Proxies = append(inv.Proxies, inventory.Proxy{Object: inventory.Object{Kind: "DaemonSet", Namespace: "kube-system", Name: "csi-proxy"},
			Image:   inventory.Image{Reference: "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy:" + tag, Repository: "ghcr.io/kubernetes-sigs/sig-windows/csi-proxy", Tag: tag},
			Version: tagFact(tag), Scheduling: inventory.Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}}, At: fact("DaemonSet kube-system/csi-proxy")})
	}
}

func noProxies(inv *inventory.Inventory) { inv.Proxies = nil }

// proxyLog is what the log of csi-proxy on nodes says, "" for a line without a
// version.
func proxyLog(line string, which ...int) change {
	return onNodes(func(n *inventory.Node) {
		f := tagFact(line)
		f.By, f.At = "log", fact("csi-proxy.log of "+n.Name)
		n.CSIProxy = &f
	}, which...)
}

// all does several changes.
func all(changes ...change) change {
	return func(inv *inventory.Inventory) {
		for _, c := range changes {
			c(inv)
		}
	}
}

// services is WMCO's list of services, with csi-proxy or without.
func services(wmco, csiProxy string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Services = []inventory.ServiceList{{WMCO: wmco, Names: []string{"kubelet"}, CSIProxy: csiProxy, At: fact("ConfigMap windows-services-" + wmco)}}
	}
}
