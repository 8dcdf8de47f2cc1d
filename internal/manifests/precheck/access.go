package precheck

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The namespaces with ConfigMaps that are read.
const (
	acksNamespace     = "openshift-config"
	gatesNamespace    = "openshift-config-managed"
	servicesNamespace = "openshift-windows-machine-config-operator"
)

// Verbs.
var (
	lists   = []string{"list"}
	watches = []string{"list", "watch"}
	gets    = []string{"get"}
)

// clusterRules are docs/clusterrole.yaml's and watch.
var clusterRules = []rbacv1.PolicyRule{
	{APIGroups: []string{"apps"}, Resources: []string{"daemonsets"}, Verbs: watches},
	{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: watches},
	{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"csinodes"}, Verbs: watches},
	{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: lists},
	{APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, Verbs: lists},
	{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: lists},
	{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Verbs: lists},
	{APIGroups: []string{"node.k8s.io"}, Resources: []string{"runtimeclasses"}, Verbs: lists},
	{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: lists},
	{APIGroups: []string{"config.openshift.io"}, Resources: []string{"clusterversions"}, ResourceNames: []string{"version"}, Verbs: []string{"get", "list", "watch"}},
	{APIGroups: []string{"config.openshift.io"}, Resources: []string{"infrastructures"}, ResourceNames: []string{"cluster"}, Verbs: gets},
	{APIGroups: []string{"operator.openshift.io"}, Resources: []string{"storages"}, ResourceNames: []string{"cluster"}, Verbs: gets},
	{APIGroups: []string{"operator.openshift.io"}, Resources: []string{"clustercsidrivers"}, Verbs: lists},
	{APIGroups: []string{"machineconfiguration.openshift.io"}, Resources: []string{"machineconfigpools"}, Verbs: lists},
	{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"clusterserviceversions"}, Verbs: []string{"get", "list"}},
	{NonResourceURLs: []string{"/version"}, Verbs: gets},
}

var (
	acksRules     = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"admin-acks"}, Verbs: gets}}
	gatesRules    = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"admin-gates"}, Verbs: gets}}
	servicesRules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: lists}}
)

var rbacVersion = rbacv1.SchemeGroupVersion.String()

// labels are those of every object; the Service and the Deployment choose by
// them.
func labels() map[string]string { return map[string]string{"app.kubernetes.io/name": name} }

// meta names an object; namespace is "" for the whole cluster's.
func meta(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels()}
}

func namespace(ns string) *corev1.Namespace {
	all := labels()
	for _, mode := range []string{"enforce", "audit", "warn"} {
		all["pod-security.kubernetes.io/"+mode] = "restricted"
	}
	return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: all}}
}

func serviceAccount(ns string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta(ns)}
}

func subjects(ns string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: ns}}
}

func clusterRole() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: rbacVersion, Kind: "ClusterRole"}, ObjectMeta: meta(""), Rules: clusterRules}
}

func clusterRoleBinding(ns string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacVersion, Kind: "ClusterRoleBinding"}, ObjectMeta: meta(""),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}, Subjects: subjects(ns),
	}
}

func role(in string, rules []rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{TypeMeta: metav1.TypeMeta{APIVersion: rbacVersion, Kind: "Role"}, ObjectMeta: meta(in), Rules: rules}
}

func roleBinding(in, ns string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacVersion, Kind: "RoleBinding"}, ObjectMeta: meta(in),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}, Subjects: subjects(ns),
	}
}
