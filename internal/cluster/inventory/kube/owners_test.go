package kube

import (
	"fmt"
	"strings"
	"testing"
)

func TestOwners(t *testing.T) {
	for name, c := range map[string]struct{ metadata, want string }{
		"none":                   {"labels: {app: a}", ""},
		"helm":                   {"labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: smb, meta.helm.sh/release-namespace: kube-system}", "Helm release kube-system/smb annotations"},
		"helm template":          {"labels: {app.kubernetes.io/managed-by: Helm}", "Helm  / labels"},
		"another's managed-by":   {"labels: {app.kubernetes.io/managed-by: Kustomize}", ""},
		"argo by annotation":     {"annotations: {argocd.argoproj.io/tracking-id: 'storage:apps/DaemonSet:csi/smb'}", "Argo CD Application /storage annotations"},
		"argo in any namespace":  {"annotations: {argocd.argoproj.io/tracking-id: 'team-a_storage:apps/DaemonSet:csi/smb'}", "Argo CD Application team-a/storage annotations"},
		"argo by label":          {"labels: {argocd.argoproj.io/instance: storage}", "Argo CD Application /storage labels"},
		"argo by both":           {"labels: {argocd.argoproj.io/instance: storage}, annotations: {argocd.argoproj.io/tracking-id: 'storage:a'}", "Argo CD Application /storage annotations"},
		"written for argo":       {"annotations: {argocd.argoproj.io/sync-wave: '1'}", "Argo CD  / annotations"},
		"flux":                   {"labels: {kustomize.toolkit.fluxcd.io/name: infra, kustomize.toolkit.fluxcd.io/namespace: flux-system}", "Flux Kustomization flux-system/infra labels"},
		"flux and its helm":      {"labels: {helm.toolkit.fluxcd.io/name: smb, helm.toolkit.fluxcd.io/namespace: storage}, annotations: {meta.helm.sh/release-name: smb, meta.helm.sh/release-namespace: storage}", "Flux HelmRelease storage/smb labels, Helm release storage/smb annotations"},
		"olm by label":           {"labels: {olm.owner: smb-operator.v4.19, olm.owner.namespace: openshift-cluster-csi-drivers}", "OLM ClusterServiceVersion openshift-cluster-csi-drivers/smb-operator.v4.19 labels"},
		"olm by reference":       {"ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: x, uid: u}]", "OLM ClusterServiceVersion storage/x ownerReferences[0]"},
		"olm by both":            {"labels: {olm.owner: x, olm.owner.namespace: storage}, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: x, uid: u}]", "OLM ClusterServiceVersion storage/x labels"},
		"acm":                    {"annotations: {apps.open-cluster-management.io/hosting-subscription: team/smb}", "ACM Subscription team/smb annotations"},
		"acm's work":             {"ownerReferences: [{apiVersion: work.open-cluster-management.io/v1, kind: AppliedManifestWork, name: h-w, uid: u}]", "ACM AppliedManifestWork /h-w ownerReferences[0]"},
		"hive":                   {"labels: {hive.openshift.io/managed: 'true'}", "Hive  / labels"},
		"an operator":            {"ownerReferences: [{apiVersion: trident.netapp.io/v1, kind: TridentOrchestrator, name: trident, uid: u}]", "TridentOrchestrator TridentOrchestrator storage/trident ownerReferences[0]"},
		"a mark without a value": {"annotations: {meta.helm.sh/release-name: ''}", ""},
	} {
		doc := strings.Replace(smb("os: {name: windows}"), "namespace: storage}", "namespace: storage, "+c.metadata+"}", 1)
		var got []string
		for _, o := range driver(t, doc).Owners {
			where := strings.TrimPrefix(o.At.Where, "DaemonSet storage/smb metadata.")
			for _, place := range []string{"labels", "annotations"} {
				if strings.HasPrefix(where, place) {
					where = place
				}
			}
			got = append(got, fmt.Sprintf("%s %s %s/%s %s", o.Manager, o.Kind, o.Namespace, o.Name, where))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestStrategy(t *testing.T) {
	for update, want := range map[string]string{
		"": "RollingUpdate 1", "updateStrategy: {}": "RollingUpdate 1", "updateStrategy: {type: OnDelete}": "OnDelete ",
		"updateStrategy: {rollingUpdate: {maxUnavailable: 10%}}":                    "RollingUpdate 10%",
		"updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 3}}": "RollingUpdate 3",
		"updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 3}}":      "OnDelete ",
		"updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}":       "RollingUpdate 1",
	} {
		d := driver(t, smb("os: {name: windows}")+"\n  "+update)
		if got := d.Strategy + " " + d.MaxUnavailable; got != want {
			t.Errorf("%q: %q, want %q", update, got, want)
		}
	}
}

// A copy from Git has neither status nor what its owner adds in the cluster.
func TestOwnersOfCopies(t *testing.T) {
	git := smb("os: {name: windows}")
	live := strings.Replace(git, "namespace: storage}", "namespace: storage, annotations: {argocd.argoproj.io/tracking-id: 'storage:a'}}", 1) +
		"\n  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}\nstatus: {observedGeneration: 3, desiredNumberScheduled: 5}"
	for _, docs := range [][]string{{git, live}, {live, git}} {
		inv := collect(t, Options{}, docs...).Inventory()
		if d := inv.Drivers[0]; len(inv.Problems) != 0 || len(d.Owners) != 1 || d.Rollout == nil {
			t.Errorf("%+v %+v", inv.Problems, d)
		}
	}
}
