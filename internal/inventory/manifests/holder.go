package manifests

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/printable"
)

// holders are kinds that have others make objects, by the end of their group:
// what comes of them isn't in the file, or is there as a part of it that
// something else applies, to another cluster maybe.
var holders = map[string][]string{
	"policy.open-cluster-management.io": {"Policy", "ConfigurationPolicy"},
	"work.open-cluster-management.io":   {"ManifestWork", "ManifestWorkReplicaSet"},
	"apps.open-cluster-management.io":   {"Subscription"},
	"hive.openshift.io":                 {"SyncSet", "SelectorSyncSet"},
	"helm.toolkit.fluxcd.io":            {"HelmRelease"},
	"kustomize.toolkit.fluxcd.io":       {"Kustomization"},
	"helm.cattle.io":                    {"HelmChart", "HelmChartConfig"},
	"argoproj.io":                       {"Application", "ApplicationSet"},
	"operators.coreos.com":              {"ClusterServiceVersion"},
	"olm.operatorframework.io":          {"ClusterExtension"},
	"trident.netapp.io":                 {"TridentOrchestrator"},
}

// holder tells of an object that may bring a driver, and isn't looked into. Of
// those that don't speak of one nothing is told: an Application may be anything.
func (d *document) holder(n *yaml.Node, o object) error {
	group, _, _ := strings.Cut(o.apiVersion, "/")
	if !slices.Contains(holders[group], o.kind) || o.kind != "TridentOrchestrator" && !speaksOfCSI(n, 0) {
		return nil
	}
	name := get(get(n, "metadata"), "name")
	called := o.kind
	if name != nil {
		called += " " + printable.Clip(name.Value)
	}
	return &failure{
		where: d.where(n), what: called + " may bring a CSI driver, and what comes of it wasn't looked into",
		fix: "give what the cluster has of it", command: "oc get daemonsets -A -o yaml > daemonsets.yaml",
	}
}

// speaksOfCSI tells whether a text anywhere in an object names CSI, or an object
// that it holds is a DaemonSet.
func speaksOfCSI(n *yaml.Node, depth int) bool {
	if n == nil || depth > maxDepth {
		return false
	}
	if n.Kind == yaml.ScalarNode {
		text := strings.ToLower(n.Value)
		return text == "daemonset" || strings.Contains(text, "csi")
	}
	return slices.ContainsFunc(n.Content, func(below *yaml.Node) bool { return speaksOfCSI(below, depth+1) })
}
