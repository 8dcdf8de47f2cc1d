package manifests

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/cluster/inventory/yamlnode"
)

// object says what a mapping is, or will be: the items of a typed List may leave
// kind and version out.
type object struct {
	APIVersion string `json:"apiVersion" yaml:"apiVersion"`
	Kind       string `json:"kind" yaml:"kind"`
}

// isList tells a List, or a typed one such as NodeList.
func (o object) isList() bool { return strings.HasSuffix(o.Kind, "List") }

// item is what the items of a typed List are.
func (o object) item() object {
	if kind := strings.TrimSuffix(o.Kind, "List"); kind != "" {
		return object{o.APIVersion, kind}
	}
	return object{}
}

// found is an object with what decides whether it is wanted.
type found struct {
	object
	name string
	// spec: it has metadata and a spec, as objects do.
	spec bool
	// content is the object in JSON.
	content func() ([]byte, error)
}

// listsObjects tells a bare list of objects, what `jq .items` leaves of a List,
// from the lists of other programs.
func listsObjects(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && len(n.Content) > 0 && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool {
		return yamlnode.Get(item, "kind") == nil || yamlnode.Get(item, "apiVersion") == nil
	})
}

// holders are kinds that have others make objects, by their group: what comes of
// them isn't in the file, or is there as a part of it that something else applies, to
// another cluster maybe.
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
