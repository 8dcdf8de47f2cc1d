package apiserver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/support/kubeclient"
)

// ParseRights reads the rights of ClusterRoles and Roles out of YAML documents.
// Documents of other kinds are an error.
func ParseRights(src []byte) (Rights, error) {
	rights := Rights{Namespaced: map[string][]rbacv1.PolicyRule{}}
	for _, doc := range bytes.Split(src, []byte("\n---\n")) {
		var role rbacv1.Role // a ClusterRole's fields are the same
		if err := yaml.UnmarshalStrict(doc, &role); err != nil {
			return Rights{}, fmt.Errorf("read a role: %w", err)
		}
		switch role.Kind {
		case "ClusterRole":
			rights.Cluster = append(rights.Cluster, role.Rules...)
		case "Role":
			rights.Namespaced[role.Namespace] = append(rights.Namespaced[role.Namespace], role.Rules...)
		default:
			return Rights{}, fmt.Errorf("a %q among roles", role.Kind)
		}
	}
	return rights, nil
}

// HideVersion takes away what lets everybody read /version.
func (s *Server) HideVersion(t testing.TB) {
	t.Helper()
	client, err := kubeclient.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"system:public-info-viewer", "system:discovery"} {
		if err := client.RbacV1().ClusterRoleBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Right is one verb of one rule: the least that can be missing.
type Right struct {
	// Namespace that it holds in; "" for all.
	Namespace  string
	rule, verb int
	rbacv1.PolicyRule
}

// Verb is get, list or watch.
func (r Right) Verb() string { return r.Verbs[r.verb] }

// String is the verb and what it's for: "list pods", "get configmaps/admin-acks",
// and "list configmaps in-namespace" for one that holds in a namespace alone.
func (r Right) String() string {
	what := slices.Concat(r.Resources, r.NonResourceURLs)
	if len(r.ResourceNames) > 0 {
		what = []string{strings.Join(what, " ") + "/" + strings.Join(r.ResourceNames, "/")}
	}
	if r.Namespace != "" {
		what = append(what, "in-namespace")
	}
	return r.Verb() + " " + strings.Join(what, " ")
}

// Each are the rights one by one.
func (r Rights) Each() []Right {
	var out []Right
	add := func(namespace string, rules []rbacv1.PolicyRule) {
		for i, rule := range rules {
			for v := range rule.Verbs {
				out = append(out, Right{namespace, i, v, rule})
			}
		}
	}
	add("", r.Cluster)
	for namespace, rules := range r.Namespaced {
		add(namespace, rules)
	}
	return out
}

// Without are all rights but one of Each.
func (r Rights) Without(gone Right) Rights {
	drop := func(namespace string, rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		rules = slices.Clone(rules)
		if namespace == gone.Namespace {
			rules[gone.rule].Verbs = slices.Delete(slices.Clone(rules[gone.rule].Verbs), gone.verb, gone.verb+1)
			if len(rules[gone.rule].Verbs) == 0 {
				rules = slices.Delete(rules, gone.rule, gone.rule+1)
			}
		}
		return rules
	}
	out := Rights{Cluster: drop("", r.Cluster), Namespaced: map[string][]rbacv1.PolicyRule{}}
	for namespace, rules := range r.Namespaced {
		out.Namespaced[namespace] = drop(namespace, rules)
	}
	return out
}
