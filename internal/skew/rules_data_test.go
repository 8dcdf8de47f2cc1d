package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// payloadOf adds the payload of a release, with one driver's commit.
func payloadOf(release, tag, commit string) change {
	return func(inv *inventory.Inventory) {
		inv.Payloads = append(inv.Payloads, inventory.Payload{Version: release, At: fact("release.json"),
			Tags: []inventory.PayloadTag{{Name: tag, Commit: commit, Image: inventory.Image{Digest: "sha256:" + commit}}}})
	}
}

// knownCommit is a commit that the catalog has for a driver's version.
func knownCommit(driver, version string) string {
	c, err := catalog.Load()
	if err != nil {
		panic(err)
	}
	for _, known := range c.Commits {
		if known.Driver == driver && known.Version == version {
			return known.Commit
		}
	}
	panic("no commit of " + driver + " " + version)
}

func noOpenShift(inv *inventory.Inventory) { inv.Cluster.OpenShift = "" }

func noPayload(inv *inventory.Inventory) { inv.Payloads = nil }

// noStatus makes manifests of the DaemonSets, as they are in files.
func noStatus(inv *inventory.Inventory) {
	for i := range inv.Drivers {
		inv.Drivers[i].Rollout = nil
	}
}

func releaseCases() []ruleCase {
	named := func(release string) func(*skew.Request, *catalog.Catalog) {
		return func(r *skew.Request, _ *catalog.Catalog) { r.To = release }
	}
	stranger := strings.Repeat("ab", 20)
	fuzzy := func(c *catalog.Catalog) {
		last, first := 25, 26
		c.Release("4.14").Drivers["azure-file"] = []catalog.Shipped{
			{Version: "1.28.1", UntilZ: &last, FuzzyZ: 1, Certainty: catalog.Range},
			{Version: "1.29.5", FromZ: &first, FuzzyZ: 1, Certainty: catalog.Range},
		}
	}
	manifest := func(tag string) change { return all(linuxOf("vsphere", vsphereName, tag), noStatus) }
	return []ruleCase{
		{name: "a Linux manifest beside OpenShift's driver", id: "DATA001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: manifest("v3.3.0"), want: finding.Warn,
			says: "Linux 3.3.0 by DaemonSet openshift-cluster-csi-drivers/vsphere-linux, which no operator owns and no status shows to run; OpenShift brings csi.vsphere.vmware.com itself, 3.5.0",
			does: "oc get clustercsidriver/csi.vsphere.vmware.com -o 'jsonpath={.spec.managementState}'", fix: func(inv *inventory.Inventory) { inv.Drivers = inv.Drivers[:1] }, count: 2},
		{name: "and it runs there", id: "DATA001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: manifest("v3.3.0"), want: finding.Warn,
			does: "then the DaemonSet that runs counts", fix: func(inv *inventory.Inventory) {
				inv.Drivers[1].Rollout = &inventory.Rollout{Desired: 3, Observed: true}
			}, count: 2},
		{name: "a Linux manifest of the same minor", id: "DATA001", from: "4.19", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: manifest("v3.3.0"), want: finding.Info, says: "itself, 3.3.1", count: 1},
		{name: "a Linux manifest of the same version", id: "DATA001", from: "4.19", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: manifest("v3.3.1")},
		{name: "a Linux manifest on another platform", id: "DATA001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: all(manifest("v3.3.0"), func(inv *inventory.Inventory) { inv.Cluster.Platform = "None" })},
		{name: "a Linux manifest of what OpenShift doesn't bring", id: "DATA001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", smb("v1.17.0")), change: all(linuxOf("smb", smbName, "v1.17.0"), noStatus)},
		{name: "a Linux manifest, and what OpenShift brings isn't known", id: "DATA001", from: "4.19", to: "4.20", inv: clusterOf("4.19", "10.19.1", vsphere("v3.3.0")), change: manifest("v3.3.0"), know: func(c *catalog.Catalog) {
			c.Release("4.20").Drivers["vsphere"] = []catalog.Shipped{{Certainty: catalog.Default}}
		}, want: finding.Unknown, says: "doesn't know which vSphere CSI driver OpenShift 4.20 ships",
			fix: all(func(inv *inventory.Inventory) { inv.Drivers = inv.Drivers[:1] }, payloadOf("4.20.4", "vsphere-csi-driver", knownCommit("vsphere", "3.5.0"))), fixedAsk: named("4.20.4"), count: 2},
		{name: "exact", id: "DATA001", from: "4.19.3", to: "4.20.1", inv: storageCluster("4.19", "10.19.1")},
		{name: "the cluster's release isn't known", id: "DATA001", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: noOpenShift, want: finding.Unknown,
			says: "it isn't known which release the cluster runs", does: "--from", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From = "4.19" }},
		{name: "a target of the future", id: "DATA001", from: "4.19", to: "6.3", inv: storageCluster("4.19", "10.19.1"), want: finding.Unknown,
			says: "doesn't know OpenShift 6.3", does: "where OpenShift 6.3 is newer than the catalog give its payload with --release-image", fixedAsk: named("4.20")},
		{name: "another release than the cluster's", id: "DATA001", from: "4.18", inv: storageCluster("4.19", "10.19.1"), want: finding.Warn,
			says: "--from says 4.18, the ClusterVersion that was read is of 4.19.30", does: "leave --from out, or name the release that the cluster runs\noc get clusterversion", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From = "" }, count: 1},
		{name: "another release than the API server's", id: "DATA001", from: "4.18", inv: storageCluster("4.19", "10.19.1"), want: finding.Warn,
			change: all(noOpenShift, func(i *inventory.Inventory) {
				i.Read[inventory.ClusterVersion] = inventory.Coverage{Reason: "forbidden"}
			}),
			says: "which has Kubernetes 1.31; the API server that was read is v1.32", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From = "4.19" }, count: 1},
		{name: "an API server that isn't OpenShift's", id: "DATA001", from: "4.18", inv: storageCluster("4.19", "10.19.1"), change: noOpenShift, want: finding.Info,
			says: "which has Kubernetes 1.31; the API server that was read is v1.32", count: 1},
		{name: "no way there", id: "DATA001", from: "4.23", to: "5.1", inv: storageCluster("4.22", "10.22.1"), know: func(c *catalog.Catalog) {
			r := *c.Release("5.0")
			r.OpenShift = "5.1"
			c.Releases = append(c.Releases, r)
		}, want: finding.Unknown, says: "knows no update from 4.23 to 5.1", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.From, r.To = "4.22", "" }},
		{name: "a row without a version", id: "DATA001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), know: func(c *catalog.Catalog) {
			c.Release("4.20").Drivers["vsphere"] = []catalog.Shipped{{Certainty: catalog.Default}}
		}, want: finding.Unknown, says: "doesn't know which vSphere CSI driver OpenShift 4.20 ships", does: "--release-image release.json",
			fix: payloadOf("4.20.4", "vsphere-csi-driver", knownCommit("vsphere", "3.5.0")), fixedAsk: named("4.20.4"), count: 1},
		{name: "one of its rows without a version", id: "DATA001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), know: twoLinux("vsphere", "4.20", "3.5.0", ""), want: finding.Unknown,
			says: "doesn't know which vSphere CSI driver", fixedAsk: named("4.20.1")},
		{name: "the patch decides", id: "DATA001", from: "4.13.30", to: "4.14", inv: clusterOf("4.13", "8.1.0", azureFile("v1.24.0")), want: finding.Warn,
			says: "Linux 1.28.1 or 1.29.5", does: "name the release to its patch", fixedAsk: named("4.14.40"), count: 1},
		{name: "the patch decides what Windows follows", id: "DATA001", from: "4.13.30", to: "4.14", inv: clusterOf("4.13", "8.1.0", azureFile("v1.25.1")), want: finding.Info, says: "Linux 1.28.1 or 1.29.5", count: 1},
		{name: "OKD's patch says nothing", id: "DATA001", from: "4.14.0-okd-scos.1", to: "4.14.0-okd-scos.4", inv: clusterOf("4.14", "9.0.0", azureFile("v1.28.1")), want: finding.Warn,
			says: "Linux 1.28.1 or 1.29.5", does: "give its payload with --release-image release.json, for its patch says nothing", fix: all(payloadOf("4.14.0-okd-scos.1", "azure-file-csi-driver", knownCommit("azure-file", "1.28.1")), payloadOf("4.14.0-okd-scos.4", "azure-file-csi-driver", knownCommit("azure-file", "1.29.5")))},
		{name: "near a rebase", id: "DATA001", from: "4.14.25", inv: clusterOf("4.14", "9.0.0", azureFile("v1.28.1")), know: fuzzy, want: finding.Warn,
			says: "Linux 1.28.1 or 1.29.5", fix: payloadOf("4.14.25", "azure-file-csi-driver", knownCommit("azure-file", "1.28.1")), count: 1},
		{name: "a rebase is only forward", id: "DATA001", from: "4.14.25", to: "4.14.26", inv: clusterOf("4.14", "9.0.0", azureFile("v1.28.1")), know: fuzzy,
			change: payloadOf("4.14.25", "azure-file-csi-driver", knownCommit("azure-file", "1.29.5"))},
		{name: "and isn't over where it hasn't begun", id: "DATA001", from: "4.14.25", to: "4.14.26", inv: clusterOf("4.14", "9.0.0", azureFile("v1.27.0")), know: fuzzy,
			change: payloadOf("4.14.25", "azure-file-csi-driver", knownCommit("azure-file", "1.28.1")), want: finding.Warn, says: "1.28.1 or 1.29.5", fixedAsk: named("4.14.28"), count: 1},
		{name: "the patch decides nothing", id: "DATA001", from: "4.13", inv: clusterOf("4.13", "8.1.0", azureDisk("v1.26.7")), want: finding.Info, says: "1.26.1 or 1.26.7"},
		{name: "the patch decides, on the way", id: "DATA001", from: "4.13.30", to: "4.15.40", inv: clusterOf("4.13", "8.1.0", azureFile("v1.25.1")), want: finding.Info, says: "1.28.1 or 1.29.5"},
		{name: "a commit unheard of", id: "DATA001", from: "4.14.40", to: "4.14.60", inv: clusterOf("4.14", "9.0.0", azureFile("v1.28.1")), change: payloadOf("4.14.60", "azure-file-csi-driver", stranger), want: finding.Warn,
			says: stranger, does: "--catalog (commits)", fixedAsk: func(_ *skew.Request, c *catalog.Catalog) {
				c.Commits = append(c.Commits, catalog.Commit{Driver: "azure-file", Commit: stranger, Version: "1.29.5"})
			}, count: 1},
		{name: "the head of a branch", id: "DATA001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), know: func(c *catalog.Catalog) {
			c.Release("4.20").Drivers["vsphere"] = []catalog.Shipped{{Version: "3.5.0", Certainty: catalog.Default}}
		}, want: finding.Info, says: "the head of the release branch", fix: payloadOf("4.20.4", "vsphere-csi-driver", knownCommit("vsphere", "3.5.0")), fixedAsk: named("4.20.4"), count: 1},
		{name: "the payload of another release", id: "DATA001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: payloadOf("4.10.3", "vsphere-csi-driver", stranger), want: finding.Warn,
			says: "the payload is of 4.10.3, which isn't a release on the way: it isn't used", does: "give the payload of the release itself", fix: noPayload, count: 1},
		{name: "the payload of another patch", id: "DATA001", from: "4.19", to: "4.20.4", inv: storageCluster("4.19", "10.19.1"), change: payloadOf("4.20.3", "vsphere-csi-driver", stranger), want: finding.Warn,
			says: "the payload is of 4.20.3, and the release on the way is 4.20.4", fixedAsk: named("4.20"), fix: func(inv *inventory.Inventory) {
				inv.Payloads[0].Tags[0].Commit = knownCommit("vsphere", "3.5.0")
			}, count: 1},
		{name: "two payloads of one minor", id: "DATA001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(payloadOf("4.20.3", "vsphere-csi-driver", stranger), payloadOf("4.20.4", "vsphere-csi-driver", stranger)), want: finding.Warn,
			says: "several payloads of 4.20 were given", fix: noPayload},
		{name: "a payload without a release", id: "DATA001", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: payloadOf("", "vsphere-csi-driver", stranger), want: finding.Warn,
			says: "doesn't say which release it is of", fix: noPayload, count: 1},
		{name: "a payload that the cluster runs", id: "DATA001", from: "4.19.3", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(payloadOf("4.19.4", "vsphere-csi-driver", knownCommit("vsphere", "3.3.1")), func(inv *inventory.Inventory) {
			for i := range inv.Drivers {
				if d := &inv.Drivers[i]; d.OS == "linux" {
					d.Image.Digest = inv.Payloads[0].Tags[0].Image.Digest
				}
			}
		})},
		{name: "half way", id: "DATA001", to: "4.21", inv: storageCluster("4.19", "10.19.1"), change: func(inv *inventory.Inventory) { inv.Cluster.Updating = "4.20.3" }, want: finding.Warn, says: "isn't complete", does: "oc get clusteroperators", fix: func(inv *inventory.Inventory) { inv.Cluster.Updating = "" }},
		{name: "half way to the target", id: "DATA001", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: func(inv *inventory.Inventory) { inv.Cluster.Updating = "4.20.3" }},
		{name: "there already", id: "DATA001", from: "4.20", to: "4.20", inv: storageCluster("4.20", "10.20.0"), want: finding.Info, says: "the target is 4.20"},
		{name: "there already, at a patch", id: "DATA001", from: "4.20.8", to: "4.20", inv: storageCluster("4.20", "10.20.0"), want: finding.Info, says: "runs 4.20.8, and the target is 4.20"},
		{name: "there already, to the patch", id: "DATA001", from: "4.20.8", to: "4.20.8", inv: storageCluster("4.20", "10.20.0"), want: finding.Info, says: "the target is 4.20.8"},
		{name: "another patch of the minor", id: "DATA001", from: "4.20.4", to: "4.20.8", inv: storageCluster("4.20", "10.20.0")},
		{name: "an old catalog", id: "DATA001", from: "4.19", inv: storageCluster("4.19", "10.19.1"), now: "2027-08-31", want: finding.Info, says: "365 days old", does: "a newer build of verify"},
	}
}

func coverageCases() []ruleCase {
	half := func(inv *inventory.Inventory) {
		inv.Read[inventory.Pods] = inventory.Coverage{Count: 40, Reason: "forbidden in namespace shop"}
	}
	read := func(rs ...inventory.Resource) change {
		return func(inv *inventory.Inventory) {
			for _, r := range rs {
				inv.Read[r] = inventory.Coverage{Complete: true, Count: 1}
			}
		}
	}
	source := func(kind string) change {
		return func(inv *inventory.Inventory) { inv.Sources = []inventory.Source{{Kind: kind, Name: "x"}} }
	}
	lacks := func(what string, rs ...inventory.Resource) change {
		return all(source("must-gather"), func(inv *inventory.Inventory) {
			for _, r := range rs {
				inv.Read[r] = inventory.Coverage{Count: 2, Reason: "namespaces that weren't gathered: a", Gather: &inventory.Gather{Inspect: []string{what}, Into: "x"}}
			}
		})
	}
	problem := func(inv *inventory.Inventory) {
		inv.Problems = []inventory.Problem{{Where: "a.yaml:3:7", What: "isn't YAML", Fix: "render the template first"}}
	}
	return []ruleCase{
		{name: "all read", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1")},
		{name: "forbidden", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: unread(inventory.CSINodes), want: finding.Unknown,
			says: "CSINodes: not in these manifests", does: "oc auth can-i list csinodes.storage.k8s.io", fix: read(inventory.CSINodes), count: 1},
		{name: "not in a must-gather", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: lacks("nodes", inventory.Nodes), want: finding.Unknown,
			does: "\noc adm inspect nodes --dest-dir=x", fix: read(inventory.Nodes), count: 1},
		{name: "one command adds two kinds", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: lacks("ns/a", inventory.DaemonSets, inventory.Pods, inventory.Claims), want: finding.Unknown,
			says: "2 DaemonSets and 2 Pods were read, and maybe not all: namespaces that weren't gathered: a", does: "\noc adm inspect ns/a --dest-dir=x", fix: read(inventory.DaemonSets, inventory.Pods), count: 1},
		{name: "no list of namespaces", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("must-gather"), func(inv *inventory.Inventory) {
			inv.Read[inventory.Pods] = inventory.Coverage{Complete: true, Count: 3, Doubt: "which namespaces there are isn't known", Gather: &inventory.Gather{List: "oc get namespaces -o yaml > x"}}
		}), want: finding.Info, says: "which namespaces there are isn't known", does: "\noc get namespaces -o yaml > x", fix: func(inv *inventory.Inventory) {
			inv.Read[inventory.Pods] = inventory.Coverage{Complete: true, Count: 3}
		}},
		{name: "no list of namespaces, a migration", id: "DATA002", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: all(source("must-gather"), func(inv *inventory.Inventory) {
			inv.Read[inventory.Pods] = inventory.Coverage{Complete: true, Count: 3, Doubt: "which namespaces there are isn't known", Gather: &inventory.Gather{List: "oc get namespaces -o yaml > x"}}
		}), want: finding.Warn, says: "which namespaces there are isn't known", does: "\noc get namespaces -o yaml > x", fix: func(inv *inventory.Inventory) {
			inv.Read[inventory.Pods] = inventory.Coverage{Complete: true, Count: 3}
		}},
		{name: "an archive that is cut", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("must-gather"), problem, func(inv *inventory.Inventory) {
			inv.Read[inventory.Pods] = inventory.Coverage{Reason: "the archive ends early", Told: true}
		}), want: finding.Unknown, says: "isn't YAML", does: "render the template first", fix: all(read(inventory.Pods), func(inv *inventory.Inventory) { inv.Problems = nil }), count: 1},
		{name: "not in manifests", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), unread(inventory.Nodes, inventory.CSINodes)), want: finding.Unknown,
			does: "oc get nodes,csinodes.storage.k8s.io --all-namespaces -o yaml > cluster.yaml", fix: read(inventory.Nodes, inventory.CSINodes), count: 2},
		{name: "no cluster behind the manifests", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), unread(inventory.Nodes, inventory.CSINodes, inventory.Pods)), static: true},
		{name: "in part", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: half, static: true, want: finding.Unknown,
			says: "40 Pods were read, and maybe not all: forbidden in namespace shop", fix: read(inventory.Pods), count: 1},
		{name: "volumes are asked for after an update alone", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: unread(inventory.Volumes)},
		{name: "after an update", id: "DATA002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: unread(inventory.Volumes), want: finding.Unknown,
			says: "PersistentVolumes", does: "persistentvolumes", fix: read(inventory.Volumes)},
		{name: "an input that couldn't be read", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: problem, static: true, want: finding.Unknown,
			says: "isn't YAML", does: "render the template first", fix: func(inv *inventory.Inventory) { inv.Problems = nil }, count: 1},
		{name: "no Windows driver in a cluster", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(noWindows, registers(nil)), want: finding.Info, says: "no Windows driver among 1 DaemonSet of drivers"},
		{name: "a driver is registered, and its DaemonSet wasn't read", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), noWindows), want: finding.Unknown,
			says: "registered on win-0, win-1, win-2", does: "daemonsets.apps", fix: onlyWindows(vsphere("v3.3.0")), count: 1},
		{name: "the same in a cluster, where all DaemonSets were read", id: "DATA002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(source("cluster"), registers([]string{vsphereName, "csi.example.com"}, 1)), want: finding.Unknown,
			says: "registered on win-1", does: "\noc get pods --all-namespaces -o wide --field-selector spec.nodeName=win-1", fix: registers([]string{vsphereName}, 1), count: 1},
		{name: "one beside another that was read", id: "DATA002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), registers([]string{vsphereName, "csi.example.com"}, 1)), want: finding.Unknown,
			says: "registered on win-1", does: "daemonsets.apps", fix: registers([]string{vsphereName}, 1), count: 1},
		{name: "no DaemonSet in a cluster", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(noWindows, registers(nil), func(inv *inventory.Inventory) {
			inv.Drivers, inv.Read[inventory.DaemonSets] = nil, inventory.Coverage{Complete: true}
		}), want: finding.Unknown, says: "no Windows driver among 0", fix: all(read(inventory.DaemonSets), onlyWindows(vsphere("v3.3.0"))), count: 1},
		{name: "no Windows driver among manifests", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), noWindows, registers(nil), func(inv *inventory.Inventory) { inv.CSINodes = inv.CSINodes[1:] }), want: finding.Unknown,
			says: "no Windows driver among", does: "--details -o json has what was looked at", fix: onlyWindows(vsphere("v3.3.0")), count: 1},
		{name: "no Windows driver, and each CSINode says so", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), noWindows, registers(nil)), want: finding.Info,
			says: "no Windows driver among", does: "nothing has to be done", count: 1},
		{name: "no Windows node among manifests", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), noWindows, noNode(0, 1, 2)), want: finding.Info,
			says: "no Windows driver among 1 DaemonSet of drivers"},
		{name: "no DaemonSet at all is told once", id: "DATA002", from: "4.19", to: "4.20", inv: storageCluster("4.19", "10.19.1"), change: all(source("manifests"), noWindows, unread(inventory.DaemonSets)), want: finding.Unknown,
			says: "DaemonSets", fix: all(read(inventory.DaemonSets), onlyWindows(vsphere("v3.3.0"))), count: 1},
	}
}

func operatorHubCases() []ruleCase {
	running := func(inv *inventory.Inventory) {
		linuxOf("smb", smbName, "v1.18.0")(inv)
		inv.Drivers[1].OperatorManaged = true
	}
	return []ruleCase{
		{name: "and the distance is to that", id: "SKEW001", from: "4.18", inv: clusterOf("4.18", "10.18.0", smb("v1.16.0")), change: running, want: finding.Warn, says: "2 minors behind", fix: at("v1.18.0"), count: 1},
	}
}

// What is said of the SMB driver's operator is what its source's last commit shows, of
// that day.
func TestOperatorsFactHasItsOwnDay(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range []string{"4.21", "4.22"} {
		r, err := skew.Evaluate(known, clusterOf(release, "10.21.0", smb("v1.17.0")), skew.Request{From: release, Now: known.AsOf})
		if err != nil {
			t.Fatal(err)
		}
		if list := ofRule(r, "SKEW001"); len(list) != 1 || !strings.Contains(list[0].Why, " had on 2025-09-29") {
			t.Errorf("%s: %+v", release, list)
		}
	}
}
