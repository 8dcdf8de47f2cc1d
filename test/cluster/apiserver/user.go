package apiserver

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/test/support/await"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// Rights are what a User may do beside what every user may.
type Rights struct {
	// Cluster are rules that hold in every namespace.
	Cluster []rbacv1.PolicyRule
	// Namespaced are rules that hold in one namespace. The namespace is made
	// where it isn't there.
	Namespaced map[string][]rbacv1.PolicyRule
}

// User makes a ServiceAccount with exactly those rights and returns its
// Config, with a bearer token of its own and client-go's usual limits. It
// returns once the server grants the rights. name is unique on the server.
func (s *Server) User(t testing.TB, name string, rights Rights) *rest.Config {
	t.Helper()
	config, err := s.user(t.Context(), name, rights)
	if err != nil {
		t.Fatalf("make user %s: %v", name, err)
	}
	awaitGranted(t, config, rights)
	return config
}

// WriteKubeconfig writes a kubeconfig with the one context "test" for a user's
// Config into a folder of the test's, and returns its path.
func (s *Server) WriteKubeconfig(t testing.TB, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := writeKubeconfig(file, "user", config); err != nil {
		t.Fatal(err)
	}
	return file
}

// accounts is where the ServiceAccounts are made: the server makes it itself.
const accounts = "default"

func (s *Server) user(ctx context.Context, name string, rights Rights) (*rest.Config, error) {
	admin, err := kubeclient.New(s.Config)
	if err != nil {
		return nil, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := admin.CoreV1().ServiceAccounts(accounts).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	if err := grant(ctx, admin, name, rights); err != nil {
		return nil, err
	}
	token, err := admin.CoreV1().ServiceAccounts(accounts).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(s.Config)
	config.BearerToken, config.QPS = token.Status.Token, 0
	return config, nil
}

func grant(ctx context.Context, admin *kubeclient.Set, name string, rights Rights) error {
	meta := metav1.ObjectMeta{Name: name}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: accounts, Name: name}}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rights.Cluster}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: name}}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	for namespace, rules := range rights.Namespaced {
		if err := makeNamespace(ctx, admin, namespace); err != nil {
			return err
		}
		role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
		if _, err := admin.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
			return err
		}
		binding := &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: name}}
		if _, err := admin.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// awaitGranted waits until the server's authorizer has seen the roles and
// bindings.
func awaitGranted(t testing.TB, config *rest.Config, rights Rights) {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubeclient.New(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, access := range accesses(rights) {
		await.True(t, fmt.Sprintf("the server grants %v", access.ResourceAttributes), func() bool {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: access}
			answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return answer.Status.Allowed
		})
	}
}

// accesses are questions of which the answer is yes once rights are granted:
// one for each role is enough, because a role is seen as a whole.
func accesses(rights Rights) []authorizationv1.SelfSubjectAccessReviewSpec {
	var out []authorizationv1.SelfSubjectAccessReviewSpec
	add := func(namespace string, rules []rbacv1.PolicyRule) {
		for _, r := range rules {
			if len(r.Resources) == 0 {
				continue
			}
			a := authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.Verbs[0], Group: r.APIGroups[0], Resource: r.Resources[0]}
			if len(r.ResourceNames) > 0 {
				a.Name = r.ResourceNames[0]
			}
			out = append(out, authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a})
			return
		}
	}
	add("", rights.Cluster)
	for namespace, rules := range rights.Namespaced {
		add(namespace, rules)
	}
	return out
}
