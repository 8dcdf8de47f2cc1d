package kube

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
)

// applied are what library-go leaves on the DaemonSets that OpenShift's
// operators apply, now and in old releases:
// https://github.com/openshift/library-go/blob/master/pkg/operator/resource/resourceapply/apps.go
var applied = []string{"operator.openshift.io/spec-hash", "operator.openshift.io/pull-spec"}

// csiNamespace is where OpenShift's storage operators keep their DaemonSets.
// The samples of WMCO go there too, so it alone tells nothing.
const csiNamespace = "openshift-cluster-csi-drivers"

func operatorManaged(ds *appsv1.DaemonSet, img inventory.Image) bool {
	for _, name := range applied {
		if _, ok := ds.Annotations[name]; ok {
			return true
		}
	}
	for _, ref := range ds.OwnerReferences {
		if ownedByOperator(ref) {
			return true
		}
	}
	return ds.Namespace == csiNamespace && isPayload(img)
}

func ownedByOperator(ref metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return group == "operator.openshift.io" || group == "config.openshift.io"
}

// isPayload tells whether an image came with a release of OpenShift or OKD.
func isPayload(img inventory.Image) bool {
	for _, repository := range []string{"ocp-v4.0-art-dev", "scos-content"} {
		if podtext.LastElement(img.Repository) == repository {
			return true
		}
	}
	return false
}
