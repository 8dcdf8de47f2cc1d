package apiserver_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

func TestServer(t *testing.T) {
	s := apiserver.Start(t)
	t.Run("version", func(t *testing.T) {
		v, err := client(t, s.Config).Discovery().ServerVersion()
		if err != nil || v.GitVersion != "v1.34.1" || v.Minor != "34" {
			t.Errorf("%+v, %v", v, err)
		}
	})
	t.Run("kubeconfig", func(t *testing.T) {
		config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client(t, config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("kubectl", func(t *testing.T) { testKubectl(t, s) })
	t.Run("rights", func(t *testing.T) { testRights(t, s) })
	t.Run("objects", func(t *testing.T) { testObjects(t, s) })
	t.Run("pause", func(t *testing.T) { testPause(t, s) })
}

// testKubectl: the kubectl of the same sources talks to the server.
func testKubectl(t *testing.T, s *apiserver.Server) {
	kubectl, err := apiserver.Kubectl(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), kubectl, "--kubeconfig="+s.Kubeconfig, "version").CombinedOutput()
	if err != nil || strings.Count(string(out), " Version: v1.34.1\n") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func client(t *testing.T, config *rest.Config) *kubeclient.Set {
	t.Helper()
	c, err := kubeclient.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testRights(t *testing.T, s *apiserver.Server) {
	config := s.User(t, "limited", apiserver.Rights{
		Cluster:    []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}},
		Namespaced: map[string][]rbacv1.PolicyRule{"a": {{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}}},
	})
	config, err := clientcmd.BuildConfigFromFlags("", s.WriteKubeconfig(t, config))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, config).CoreV1()
	_, nodes := c.Nodes().List(t.Context(), metav1.ListOptions{})
	_, own := c.ConfigMaps("a").List(t.Context(), metav1.ListOptions{})
	if err := errors.Join(nodes, own); err != nil {
		t.Error(err)
	}
	_, others := c.ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	_, pods := c.Pods("").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(others) || !apierrors.IsForbidden(pods) {
		t.Errorf("not forbidden: %v, %v", others, pods)
	}
}

// A HostProcess DaemonSet is what the server refuses unless it is told to
// allow privileged pods.
const objects = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver, namespace: storage}
spec:
  selector: {matchLabels: {app: driver}}
  template:
    metadata: {labels: {app: driver}}
    spec:
      hostNetwork: true
      securityContext: {windowsOptions: {hostProcess: true, runAsUserName: 'NT AUTHORITY\SYSTEM'}}
      containers: [{name: driver, image: example.com/driver:v1.0.0}]
status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberMisscheduled: 0, numberReady: 2}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: win-1}
  status: {nodeInfo: {machineID: "", systemUUID: "", bootID: "", kernelVersion: 10.0.20348.1, osImage: "", containerRuntimeVersion: "", kubeletVersion: v1.34.1, kubeProxyVersion: "", operatingSystem: windows, architecture: amd64}}
- apiVersion: config.openshift.io/v1
  kind: ClusterVersion
  metadata: {name: version}
  status: {history: [{version: 4.19.1}]}
`

func testObjects(t *testing.T, s *apiserver.Server) {
	s.InstallOpenShift(t)
	s.LoadText(t, objects)
	ctx, c := t.Context(), client(t, s.Config)
	ds, err := c.AppsV1().DaemonSets("storage").Get(ctx, "driver", metav1.GetOptions{})
	if err != nil || ds.Status.NumberReady != 2 || !*hostProcess(ds) {
		t.Errorf("%+v, %v", ds, err)
	}
	n, err := c.CoreV1().Nodes().Get(ctx, "win-1", metav1.GetOptions{})
	if err != nil || n.Status.NodeInfo.OperatingSystem != "windows" || len(n.Spec.Taints) > 0 {
		t.Errorf("%+v, %v", n, err)
	}
	d, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	versions := schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	v, err := d.Resource(versions).Get(ctx, "version", metav1.GetOptions{})
	if err != nil || v.Object["status"] == nil {
		t.Errorf("%+v, %v", v, err)
	}
}

func hostProcess(ds *appsv1.DaemonSet) *bool {
	return ds.Spec.Template.Spec.SecurityContext.WindowsOptions.HostProcess
}

func testPause(t *testing.T, s *apiserver.Server) {
	c := client(t, s.Config).CoreV1().Nodes()
	s.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.List(ctx, metav1.ListOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused server answers: %v", err)
	}
	s.Resume()
	if _, err := c.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := apiserver.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Stop()
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := client(t, s.Config).Discovery().ServerVersion(); err == nil {
		t.Error("the server still answers")
	}
}

func TestWrongArgumentIsTold(t *testing.T) {
	_, err := apiserver.New(t.Context(), "--no-such-flag")
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("%v", err)
	}
}

func TestWithoutEtcd(t *testing.T) {
	if _, err := apiserver.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(goTool, bin+"/go"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	_, err = apiserver.New(t.Context())
	if err == nil || !strings.Contains(err.Error(), "apt-get install etcd-server") {
		t.Errorf("%v", err)
	}
}

func TestBuildIsStoppable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := apiserver.Build(ctx); err == nil || ctx.Err() == nil {
		t.Fatalf("%v, and the context has %v: a build takes minutes", err, ctx.Err())
	}
}
