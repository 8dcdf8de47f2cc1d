// Package owners tells by labels, annotations and references which program manages an object.
package owners

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// mark is a label or an annotation by which a program knows what it made.
type mark struct {
	manager, key string
	// kind is what the mark names; namespace is the key that names its
	// namespace, "" where the value has it in front of a slash.
	kind, namespace string
}

// marks are what the programs write: those first that have others write, as
// Flux has Helm.
var marks = []mark{
	// https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
	{"Argo CD", "argocd.argoproj.io/tracking-id", "Application", ""},
	{"Argo CD", "argocd.argoproj.io/instance", "Application", ""},
	// https://github.com/fluxcd/pkg/blob/main/ssa/manager.go
	{"Flux", "kustomize.toolkit.fluxcd.io/name", "Kustomization", "kustomize.toolkit.fluxcd.io/namespace"},
	{"Flux", "helm.toolkit.fluxcd.io/name", "HelmRelease", "helm.toolkit.fluxcd.io/namespace"},
	// https://github.com/helm/helm/blob/main/pkg/action/validate.go
	{"Helm", "meta.helm.sh/release-name", "release", "meta.helm.sh/release-namespace"},
	// https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/lib/ownerutil/util.go
	{"OLM", "olm.owner", "ClusterServiceVersion", "olm.owner.namespace"},
	// https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/labels/labels.go
	{"OLM", "olm.operatorframework.io/owner-name", "ClusterExtension", ""},
	// https://github.com/open-cluster-management-io/multicloud-operators-subscription/blob/main/pkg/apis/apps/v1/subscription_types.go
	{"ACM", "apps.open-cluster-management.io/hosting-subscription", "Subscription", ""},
	// https://github.com/openshift/hive/blob/master/docs/syncset.md
	{"Hive", "hive.openshift.io/managed", "", ""},
}

// traces tell of a program by what begins a key, where no mark does: the object
// was written for it, and may have been applied by hand.
var traces = []mark{
	{manager: "Argo CD", key: "argocd.argoproj.io/"},
	{manager: "Flux", key: "kustomize.toolkit.fluxcd.io/"},
	{manager: "ACM", key: "apps.open-cluster-management.io/"},
}

// Of are the programs that manage an object; at gives the place of one of its fields.
func Of(meta metav1.ObjectMeta, at func(path ...any) string) []inventory.Owner {
	var out []inventory.Owner
	add := func(o inventory.Owner) {
		if !slices.ContainsFunc(out, func(other inventory.Owner) bool { return other.Manager == o.Manager && other.Kind == o.Kind }) {
			out = append(out, o)
		}
	}
	for _, m := range marks {
		for _, in := range metadata(meta) {
			if value := in.keys[m.key]; value != "" {
				add(m.owner(meta, value, inventory.Evidence{Where: at("metadata", in.name, m.key), Text: m.key + ": " + printable.Clip(value)}))
			}
		}
	}
	for i, ref := range meta.OwnerReferences {
		add(referenced(ref, meta.Namespace, inventory.Evidence{Where: at("metadata", "ownerReferences", i), Text: ref.Kind + " " + ref.Name}))
	}
	if len(out) > 0 {
		return out
	}
	return traced(meta, at)
}

type keys struct {
	name string
	keys map[string]string
}

func metadata(meta metav1.ObjectMeta) []keys {
	return []keys{{"labels", meta.Labels}, {"annotations", meta.Annotations}}
}

// owner reads the value of a mark. Argo CD's begins with the Application's name
// up to a colon, and may have its namespace in front with an underscore.
func (m mark) owner(meta metav1.ObjectMeta, value string, at inventory.Evidence) inventory.Owner {
	o := inventory.Owner{Manager: m.manager, Kind: m.kind, At: at}
	switch {
	case m.kind == "":
		return o
	case m.namespace != "":
		o.Name, o.Namespace = value, cmp.Or(meta.Labels[m.namespace], meta.Annotations[m.namespace])
	case m.manager == "Argo CD":
		app, _, _ := strings.Cut(value, ":")
		if namespace, name, ok := strings.Cut(app, "_"); ok {
			o.Namespace, app = namespace, name
		}
		o.Name = app
	default:
		o.Name = value
		if namespace, name, ok := strings.Cut(value, "/"); ok {
			o.Namespace, o.Name = namespace, name
		}
	}
	return o
}

// referenced is the owner that an owner reference names; it is in the object's
// own namespace, or in none.
func referenced(ref metav1.OwnerReference, namespace string, at inventory.Evidence) inventory.Owner {
	o := inventory.Owner{Manager: ref.Kind, Kind: ref.Kind, Namespace: namespace, Name: ref.Name, At: at}
	switch ref.Kind {
	case "ClusterServiceVersion":
		o.Manager = "OLM"
	case "ClusterExtensionRevision":
		o.Manager, o.Namespace = "OLM", ""
	case "AppliedManifestWork":
		o.Manager, o.Namespace = "ACM", ""
	}
	return o
}

// traced looks for what only programs' users write. The chart's own label says
// Helm, if `helm template` rendered it too.
func traced(meta metav1.ObjectMeta, at func(path ...any) string) []inventory.Owner {
	const managedBy = "app.kubernetes.io/managed-by"
	if by := meta.Labels[managedBy]; strings.EqualFold(by, "Helm") {
		return []inventory.Owner{{Manager: "Helm", At: inventory.Evidence{Where: at("metadata", "labels", managedBy), Text: managedBy + ": " + by}}}
	}
	for _, m := range traces {
		for _, in := range metadata(meta) {
			for key := range in.keys {
				if strings.HasPrefix(key, m.key) {
					return []inventory.Owner{{Manager: m.manager, At: inventory.Evidence{Where: at("metadata", in.name), Text: m.key}}}
				}
			}
		}
	}
	return nil
}

// applied are what library-go leaves on the DaemonSets that OpenShift's
// operators apply, now and in old releases:
// https://github.com/openshift/library-go/blob/master/pkg/operator/resource/resourceapply/apps.go
var applied = []string{"operator.openshift.io/spec-hash", "operator.openshift.io/pull-spec"}

// csiNamespace is where OpenShift's storage operators keep their DaemonSets.
// The samples of WMCO go there too, so it alone tells nothing.
const csiNamespace = "openshift-cluster-csi-drivers"

// Operator tells whether an operator of OpenShift manages a DaemonSet with this image.
func Operator(ds *appsv1.DaemonSet, img inventory.Image) bool {
	return slices.ContainsFunc(applied, func(name string) bool { _, ok := ds.Annotations[name]; return ok }) ||
		slices.ContainsFunc(ds.OwnerReferences, func(ref metav1.OwnerReference) bool {
			group, _, _ := strings.Cut(ref.APIVersion, "/")
			return group == "operator.openshift.io" || group == "config.openshift.io"
		}) || ds.Namespace == csiNamespace && slices.Contains([]string{"ocp-v4.0-art-dev", "scos-content"}, podtext.LastElement(img.Repository)) // of OpenShift or OKD
}
