package mustgather

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/inventory"
)

func TestCoverage(t *testing.T) {
	const drivers = "openshift-cluster-csi-drivers"
	noPVs := "which namespaces there are isn't known: no cluster-scoped-resources/core/persistentvolumes in this must-gather"
	tests := []struct {
		name    string
		changes files
		want    map[inventory.Resource]string // why it isn't complete
	}{
		{"nodes", files{cluster + "core/nodes/linux-1.yaml": "", cluster + "core/nodes/win-1.yaml": ""},
			map[inventory.Resource]string{inventory.Nodes: "no cluster-scoped-resources/core/nodes in this must-gather"}},
		{"one node", files{cluster + "core/nodes/win-1.yaml": ""},
			map[inventory.Resource]string{inventory.Nodes: "nodes that have a CSINode weren't gathered: win-1"}},
		{"csinodes", files{cluster + "storage.k8s.io/csinodes/linux-1.yaml": "", cluster + "storage.k8s.io/csinodes/win-1.yaml": ""},
			map[inventory.Resource]string{inventory.CSINodes: "no cluster-scoped-resources/storage.k8s.io/csinodes in this must-gather"}},
		{"no volumes in the cluster", files{cluster + "core/persistentvolumes/pv-1.yaml": ""}, nil},
		{"volumes not gathered", files{cluster + "core/persistentvolumes/pv-1.yaml": "", "version": ""},
			map[inventory.Resource]string{inventory.Volumes: "no cluster-scoped-resources/core/persistentvolumes in this must-gather", inventory.Pods: noPVs, inventory.Claims: noPVs, inventory.DaemonSets: noPVs}},
		{"a claim's namespace", files{namespaces + "shop/shop.yaml": "", namespaces + "shop/core/pods.yaml": "", namespaces + "shop/core/persistentvolumeclaims.yaml": "",
			namespaces + "shop/pods/web-1/web-1.yaml": "", namespaces + "shop/pods/web-1/web/web/logs/current.log": "", namespaces + "shop/core/secrets.yaml": ""},
			map[inventory.Resource]string{inventory.Pods: "pods of namespaces that weren't gathered: shop", inventory.Claims: "persistentvolumeclaims of namespaces that weren't gathered: shop",
				inventory.DaemonSets: "apps/daemonsets of namespaces that weren't gathered: shop"}},
		{"a namespace known by its folder", files{namespaces + "web/coordination.k8s.io/leases.yaml": "items: []"},
			map[inventory.Resource]string{inventory.Pods: "pods of namespaces that weren't gathered: web", inventory.Claims: "persistentvolumeclaims of namespaces that weren't gathered: web",
				inventory.DaemonSets: "apps/daemonsets of namespaces that weren't gathered: web"}},
		{"only pods of all namespaces", files{namespaces + "web/core/pods.yaml": "items: []"},
			map[inventory.Resource]string{inventory.Claims: "persistentvolumeclaims of namespaces that weren't gathered: web", inventory.DaemonSets: "apps/daemonsets of namespaces that weren't gathered: web"}},
		{"WMCO's namespace", files{namespaces + operatorNamespace + "/core/configmaps.yaml": "", namespaces + operatorNamespace + "/" + operatorNamespace + ".yaml": ""},
			map[inventory.Resource]string{inventory.Services: "namespace openshift-windows-machine-config-operator wasn't gathered"}},
		{"WMCO in a namespace of another name", files{namespaces + operatorNamespace + "/core/configmaps.yaml": "", namespaces + operatorNamespace + "/" + operatorNamespace + ".yaml": "",
			namespaces + "wmco/wmco.yaml": namespaceObject("wmco"), namespaces + "wmco/core/configmaps.yaml": strings.ReplaceAll(services, operatorNamespace, "wmco")}, nil},
		{"clusterversions", files{cluster + "config.openshift.io/clusterversions.yaml": ""},
			map[inventory.Resource]string{inventory.ClusterVersion: "no cluster-scoped-resources/config.openshift.io/clusterversions in this must-gather"}},
		{"a broken file", files{namespaces + drivers + "/apps/daemonsets.yaml": "items: [\n"}, map[inventory.Resource]string{inventory.DaemonSets: "1 files or objects couldn't be read"}},
		{"a broken object", files{cluster + "storage.k8s.io/csinodes/win-1.yaml": "metadata: [\n"}, map[inventory.Resource]string{inventory.CSINodes: "1 files or objects couldn't be read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inv := mustRead(t, gathered().with(tt.changes).folder(t))
			for resource, reason := range tt.want {
				if got := inv.Read[resource]; got.Complete || got.Reason != reason {
					t.Errorf("%s: %+v\nwant the reason %q", resource, got, reason)
				}
			}
			if len(tt.want) == 0 && (!inv.Read[inventory.Services].Complete || !inv.Read[inventory.Volumes].Complete) {
				t.Errorf("%+v", inv.Read)
			}
		})
	}
}

func TestMissingNamespacesSayHow(t *testing.T) {
	fs := gathered().with(files{namespaces + "web/coordination.k8s.io/leases.yaml": "items: []", namespaces + "app/coordination.k8s.io/leases.yaml": "items: []"})
	dir := fs.below(imageFolder).folder(t)
	inv := mustRead(t, dir)
	want := []inventory.Problem{{
		Where: "namespaces", What: "pods of 2 namespaces weren't gathered: app, web",
		Fix: "oc adm inspect --overwrite --dest-dir=" + filepath.Join(dir, imageFolder) + " ns/app ns/web",
	}}
	if !reflect.DeepEqual(inv.Problems, want) {
		t.Errorf("%+v", inv.Problems)
	}
}
