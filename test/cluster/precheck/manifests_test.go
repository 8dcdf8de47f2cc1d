package precheck_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
	"github.com/winbake/winbake/test/support/program"
)

var built = program.Folder{Commands: []string{"verify"}}

func TestMain(m *testing.M) { built.Main(m) }

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

// pod submits the pod of a CronJob: Pod Security only warns about a CronJob.
func (a *applier) pod(t *testing.T, src []byte) error {
	t.Helper()
	var c batchv1.CronJob
	must(t, yaml.UnmarshalStrict(src, &c))
	template := c.Spec.JobTemplate.Spec.Template
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name = "as-a-pod"
	_, err := a.typed.CoreV1().Pods(c.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// TestInCluster applies the whole folder in its order to a real API server, and runs
// verify skew as the CronJobs do, with the rights that they have.
func TestInCluster(t *testing.T) {
	s := openShiftCluster(t)
	a := newApplier(t, s)
	files := rendered(t)
	for _, f := range files {
		if err := a.apply(t.Context(), f.Data); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	job := file(t, files, "cron-job-warn")
	if err := a.pod(t, job); err != nil {
		t.Errorf("its pod: %v", err)
	}
	// That it can be refused: the namespace's level holds.
	for _, change := range [][2]string{{"runAsNonRoot: true", "runAsNonRoot: false"}, {"- ALL", "- KILL"}, {"allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true"}} {
		if err := a.pod(t, changed(t, job, change[0], change[1])); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "restricted") {
			t.Errorf("with %s the pod is taken: %v", change[1], err)
		}
	}
	rule := bytes.Replace(changed(t, file(t, files, "prometheus-rule"), "for: 2h", "for: a while"), []byte("name: winbake-precheck\n"), []byte("name: changed\n"), 2)
	if err := a.apply(t.Context(), rule); err == nil {
		t.Error("a rule that waits for a while is taken")
	}
	for name, want := range map[string]int{"block": 0, "unknown": 0, "warn": 2} {
		if got := runs(t, s, file(t, files, "cron-job-"+name)); got != want {
			t.Errorf("the check %s exits with %d, want %d", name, got, want)
		}
	}
	role, err := os.ReadFile("../../../internal/cluster/inventory/cluster/clusterrole.yaml")
	must(t, err)
	documented, err := apiserver.ParseRights(role)
	must(t, err)
	var whole []rbacv1.PolicyRule // those of single ConfigMaps are Roles here
	for _, r := range documented.Cluster {
		if !slices.Contains(r.Resources, "configmaps") {
			whole = append(whole, r)
		}
	}
	if got := rights(t); !reflect.DeepEqual(got.Cluster, whole) {
		t.Errorf("the rights aren't those of verify skew role, which test/cluster takes away one by one:\n%v\n%v", got.Cluster, whole)
	}
}

// runs runs a CronJob's container on this machine, as its service account.
func runs(t *testing.T, s *apiserver.Server, src []byte) (exit int) {
	t.Helper()
	var c batchv1.CronJob
	must(t, yaml.UnmarshalStrict(src, &c))
	args := c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
	cmd := built.Command(t, "verify", append(args, "--kubeconfig", s.WriteKubeconfig(t, account(t, s)))...)
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("DATA002")) {
		t.Errorf("something couldn't be read:\n%s", out)
	}
	return cmd.ProcessState.ExitCode()
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
