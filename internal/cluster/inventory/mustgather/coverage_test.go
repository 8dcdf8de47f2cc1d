package mustgather

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

func TestCoverage(t *testing.T) {
	const drivers = "openshift-cluster-csi-drivers"
	const unlisted = "which namespaces the cluster has isn't in this must-gather"
	const inspect, toList = "oc adm inspect %s --dest-dir=TOP", "oc get %s -o yaml > TOP/cluster-scoped-resources/core/%[1]s.yaml"
	const listPods = "oc get pods --all-namespaces -o yaml > TOP/cluster-scoped-resources/core/pods.yaml"
	const listClaims = "oc get persistentvolumeclaims --all-namespaces -o yaml > TOP/cluster-scoped-resources/core/persistentvolumeclaims.yaml"
	const listSets = "mkdir -p TOP/cluster-scoped-resources/apps && oc get daemonsets.apps --all-namespaces -o yaml > TOP/cluster-scoped-resources/apps/daemonsets.yaml"
	everywhere := func(reason, doubt string) lacking {
		return lacking{inventory.Pods: {reason, listPods, doubt}, inventory.Claims: {reason, listClaims, doubt}, inventory.DaemonSets: {reason, listSets, doubt}}
	}
	web := files{namespaces + "web/coordination.k8s.io/leases.yaml": "items: []"}
	none := func(resource string) string {
		return "no cluster-scoped-resources/" + resource + " in this must-gather"
	}
	namespaced := func(why lack) lacking {
		return lacking{inventory.Pods: why, inventory.Claims: why, inventory.DaemonSets: why}
	}
	unlistedToo := func(l lacking) lacking {
		l[inventory.Namespaces] = lack{reason: unlisted, fix: fmt.Sprintf(toList, "namespaces")}
		return l
	}
	tests := []struct {
		name    string
		changes files
		want    lacking
	}{
		{"nodes", files{cluster + "core/nodes/linux-1.yaml": "", cluster + "core/nodes/win-1.yaml": ""},
			lacking{inventory.Nodes: {none("core/nodes"), fmt.Sprintf(inspect, "nodes"), ""}}},
		{"one node", files{cluster + "core/nodes/win-1.yaml": ""},
			lacking{inventory.Nodes: {"nodes that CSINodes or pods name weren't gathered: win-1", fmt.Sprintf(inspect, "nodes"), ""}}},
		{"a node of which there is a pod", files{cluster + "core/nodes/win-1.yaml": "", cluster + "storage.k8s.io/csinodes/win-1.yaml": ""},
			lacking{inventory.Nodes: {"nodes that CSINodes or pods name weren't gathered: win-1", fmt.Sprintf(inspect, "nodes"), ""}}},
		{"csinodes", files{cluster + "storage.k8s.io/csinodes/linux-1.yaml": "", cluster + "storage.k8s.io/csinodes/win-1.yaml": ""},
			lacking{inventory.CSINodes: {none("storage.k8s.io/csinodes"), fmt.Sprintf(inspect, "csinodes.storage.k8s.io"), ""}}},
		{"no volumes in the cluster", files{cluster + "core/persistentvolumes/pv-1.yaml": ""}, nil},
		{"no volumes in the cluster, by a list", files{cluster + "core/persistentvolumes/pv-1.yaml": "", cluster + "core/persistentvolumes.yaml": "apiVersion: v1\nitems: []\nkind: List\n", "version": ""}, nil},
		{"volumes not gathered", files{cluster + "core/persistentvolumes/pv-1.yaml": "", "version": ""},
			lacking{inventory.Volumes: {none("core/persistentvolumes"), fmt.Sprintf(toList, "persistentvolumes"), ""}}},
		{"what must-gather takes by itself", files{namespacesFile: ""}, unlistedToo(everywhere("", unlisted))},
		{"no list, and no volumes that mention namespaces", files{namespacesFile: "", cluster + "core/persistentvolumes/pv-1.yaml": "", "version": ""}, unlistedToo(lacking{
			inventory.Volumes:    {reason: none("core/persistentvolumes"), fix: fmt.Sprintf(toList, "persistentvolumes")},
			inventory.Pods:       {reason: unlisted, fix: listPods},
			inventory.Claims:     {reason: unlisted, fix: listClaims},
			inventory.DaemonSets: {reason: unlisted, fix: listSets}})},
		{"a list that can't be read", files{namespacesFile: "items: [\n"}, lacking{inventory.Namespaces: {reason: "1 file or object couldn't be read"},
			inventory.Pods: {unlisted, listPods, ""}, inventory.Claims: {unlisted, listClaims, ""}, inventory.DaemonSets: {unlisted, listSets, ""}}},
		{"a claim's namespace, unlisted", shopless(files{namespacesFile: ""}),
			unlistedToo(everywhere(unlisted+"; of those that it mentions these weren't gathered: shop", ""))},
		{"a claim's namespace", shopless(nil), namespaced(lack{"namespaces that weren't gathered: shop", fmt.Sprintf(inspect, "ns/shop"), ""})},
		{"lists of all namespaces", files{namespacesFile: "", cluster + "core/pods.yaml": "apiVersion: v1\nitems: []\nkind: List\n", cluster + "core/persistentvolumeclaims.yaml": "apiVersion: v1\nitems: []\nkind: List\n", cluster + "apps/daemonsets.yaml": "apiVersion: v1\nitems: []\nkind: List\n"}, unlistedToo(lacking{})},
		{"listed namespaces", files{namespacesFile: namespaceList(drivers, "shop", "b", "a")},
			namespaced(lack{"namespaces that weren't gathered: a, b", fmt.Sprintf(inspect, "ns/a ns/b"), ""})},
		{"a namespace known by its folder", web, namespaced(lack{"namespaces that weren't gathered: web", fmt.Sprintf(inspect, "ns/web"), ""})},
		{"only pods of all namespaces", files{namespaces + "web/core/pods.yaml": "items: []"}, lacking{
			inventory.Claims:     {"namespaces that weren't gathered: web", fmt.Sprintf(inspect, "ns/web"), ""},
			inventory.DaemonSets: {"namespaces that weren't gathered: web", fmt.Sprintf(inspect, "ns/web"), ""}}},
		{"WMCO's namespace", files{namespaces + kube.OperatorNamespace + "/core/configmaps.yaml": "", namespaces + kube.OperatorNamespace + "/" + kube.OperatorNamespace + ".yaml": "", namespacesFile: namespaceList(drivers, "shop")},
			lacking{inventory.Services: {"namespace openshift-windows-machine-config-operator wasn't gathered", fmt.Sprintf(inspect, "ns/"+kube.OperatorNamespace), ""}}},
		{"WMCO in a namespace of another name", files{namespaces + kube.OperatorNamespace + "/core/configmaps.yaml": "", namespaces + kube.OperatorNamespace + "/" + kube.OperatorNamespace + ".yaml": "",
			namespacesFile: namespaceList(drivers, "shop", "wmco"), namespaces + "wmco/wmco.yaml": namespaceObject("wmco"), namespaces + "wmco/core/configmaps.yaml": strings.ReplaceAll(services, kube.OperatorNamespace, "wmco")}, nil},
		{"ClusterCSIDrivers", files{cluster + "operator.openshift.io/clustercsidrivers/csi.vsphere.vmware.com.yaml": ""},
			lacking{inventory.CSIDrivers: {none("operator.openshift.io/clustercsidrivers"), fmt.Sprintf(inspect, "clustercsidrivers.operator.openshift.io"), ""}}},
		{"MachineConfigPools", files{cluster + "machineconfiguration.openshift.io/machineconfigpools/worker.yaml": ""},
			lacking{inventory.Pools: {none("machineconfiguration.openshift.io/machineconfigpools"), fmt.Sprintf(inspect, "machineconfigpools.machineconfiguration.openshift.io"), ""}}},
		{"no gates in their namespace", files{namespaces + "openshift-config-managed/core/configmaps.yaml": "items: []"}, nil},
		{"the gates' namespace", files{namespaces + "openshift-config-managed/core/configmaps.yaml": "", namespaces + "openshift-config-managed/openshift-config-managed.yaml": "", namespacesFile: namespaceList(drivers, "shop")},
			lacking{inventory.AdminGates: {"no ConfigMaps of namespace openshift-config-managed in this must-gather", fmt.Sprintf(inspect, "configmap/admin-gates -n openshift-config-managed"), ""}}},
		{"the acknowledgements' namespace", files{namespaces + "openshift-config/core/configmaps.yaml": "", namespaces + "openshift-config/openshift-config.yaml": "", namespacesFile: namespaceList(drivers, "shop")},
			lacking{inventory.AdminAcks: {"no ConfigMaps of namespace openshift-config in this must-gather", fmt.Sprintf(inspect, "configmap/admin-acks -n openshift-config"), ""}}},
		{"clusterversions", files{cluster + "config.openshift.io/clusterversions.yaml": ""},
			lacking{inventory.ClusterVersion: {none("config.openshift.io/clusterversions"), fmt.Sprintf(inspect, "clusterversions.config.openshift.io"), ""}}},
		{"a broken file", files{namespaces + drivers + "/apps/daemonsets.yaml": "items: [\n"}, lacking{inventory.DaemonSets: {reason: "1 file or object couldn't be read"}}},
		{"a broken object", files{cluster + "storage.k8s.io/csinodes/win-1.yaml": "metadata: [\n"}, lacking{inventory.CSINodes: {reason: "1 file or object couldn't be read"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := gathered().with(tt.changes).folder(t)
			for resource, got := range mustRead(t, top).Read {
				want := tt.want[resource]
				want.fix = strings.ReplaceAll(want.fix, "TOP", top)
				if got.Complete != (want.reason == "") || got.Reason != want.reason || got.Fix != want.fix || got.Doubt != want.doubt || got.Told != (want.reason != "" && want.fix == "") {
					t.Errorf("%s: %+v\nwant %+v", resource, got, want)
				}
			}
		})
	}
}

// lack is why a resource isn't complete, and what adds the rest.
type lack struct{ reason, fix, doubt string }

type lacking map[inventory.Resource]lack

// shopless takes namespace shop away, which a PersistentVolume's claim is in.
func shopless(changes files) files {
	fs := files{namespaces + "shop/shop.yaml": "", namespaces + "shop/core/pods.yaml": "", namespaces + "shop/core/persistentvolumeclaims.yaml": "",
		namespaces + "shop/pods/web-1/web-1.yaml": "", namespaces + "shop/pods/web-1/web/web/logs/current.log": "", namespaces + "shop/core/secrets.yaml": ""}
	maps.Copy(fs, changes)
	return fs
}

// TestFixGoesWhereTheRestIs: what the commands add must be of the must-gather
// that is there, and no second one next to it.
func TestFixGoesWhereTheRestIs(t *testing.T) {
	fs := gathered().with(files{cluster + "core/nodes/win-1.yaml": "", cluster + "core/nodes/linux-1.yaml": ""})
	deep := fs.below(imageFolder)
	spaced := fs.below("must-gather.local.1/a b")
	folder, odd := deep.folder(t), spaced.folder(t)
	for top, want := range map[string]string{
		folder: "oc adm inspect nodes --dest-dir=" + folder + "/" + imageFolder,
		odd:    "oc adm inspect nodes --dest-dir='" + odd + "/must-gather.local.1/a b'",
	} {
		if got := mustRead(t, top).Read[inventory.Nodes].Fix; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	// As if the command had been run: oc writes cluster-scoped objects so.
	whole := mustRead(t, deep.with(gathered().below(imageFolder)).folder(t))
	if !whole.Read[inventory.Nodes].Complete {
		t.Errorf("%+v", whole.Read[inventory.Nodes])
	}
}
