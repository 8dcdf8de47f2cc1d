package precheck_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/apiserver"
	"github.com/winbake/winbake/test/kubeclient"
)

// applier applies files as they come.
type applier struct {
	typed  *kubeclient.Set
	any    dynamic.Interface
	mapper meta.RESTMapper
}

func newApplier(t *testing.T, s *apiserver.Server) *applier {
	t.Helper()
	a := &applier{}
	var err error
	a.typed, err = kubeclient.New(s.Config)
	must(t, err)
	a.any, err = dynamic.NewForConfig(s.Config)
	must(t, err)
	groups, err := restmapper.GetAPIGroupResources(a.typed.Discovery())
	must(t, err)
	a.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return a
}

// apply creates an object. Fields that the server doesn't know are an error.
func (a *applier) apply(ctx context.Context, src []byte) error {
	var o unstructured.Unstructured
	if err := yaml.Unmarshal(src, &o.Object); err != nil {
		return err
	}
	kind := o.GroupVersionKind()
	m, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var to dynamic.ResourceInterface = a.any.Resource(m.Resource)
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		to = a.any.Resource(m.Resource).Namespace(o.GetNamespace())
	}
	_, err = to.Create(ctx, &o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	return err
}

// pod submits a Deployment's pod: Pod Security only warns about a Deployment.
func (a *applier) pod(t *testing.T, src []byte) error {
	t.Helper()
	var d appsv1.Deployment
	must(t, yaml.UnmarshalStrict(src, &d))
	pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
	pod.Name = "as-a-pod"
	_, err := a.typed.CoreV1().Pods(d.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// testTaken applies the whole folder in its order, for good.
func testTaken(t *testing.T, s *apiserver.Server) {
	a := newApplier(t, s)
	files := rendered(t)
	for _, f := range files {
		if err := a.apply(t.Context(), f.Data); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	deployment := file(t, files, "deployment")
	if err := a.pod(t, deployment); err != nil {
		t.Errorf("its pod: %v", err)
	}
	// That it can be refused: the namespace's level holds.
	for _, change := range [][2]string{{"runAsNonRoot: true", "runAsNonRoot: false"}, {"- ALL", "- KILL"}, {"allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true"}} {
		if err := a.pod(t, changed(t, deployment, change[0], change[1])); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "restricted") {
			t.Errorf("with %s the pod is taken: %v", change[1], err)
		}
	}
	for name, change := range map[string][2]string{
		"service-monitor": {"port: metrics", "portt: metrics"},
		"prometheus-rule": {"for: 15m", "for: a while"},
	} {
		src := bytes.Replace(changed(t, file(t, files, name), change[0], change[1]), []byte("name: winbake-precheck\n"), []byte("name: changed\n"), 2)
		if err := a.apply(t.Context(), src); err == nil {
			t.Errorf("%s with %q is taken", name, change[1])
		}
	}
}

func changed(t *testing.T, src []byte, from, to string) []byte {
	t.Helper()
	out := bytes.ReplaceAll(src, []byte(from), []byte(to))
	if bytes.Equal(out, src) {
		t.Fatalf("there is no %s in\n%s", from, src)
	}
	return out
}

// account is the manifests' own user, once they're applied.
func account(t *testing.T, s *apiserver.Server) *rest.Config {
	t.Helper()
	a := newApplier(t, s)
	const name = "winbake-precheck"
	token, err := a.typed.CoreV1().ServiceAccounts(name).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	config := rest.CopyConfig(s.Config)
	config.BearerToken, config.QPS = token.Status.Token, 0
	return config
}
